/**
 * The storage routes: memory in the form in which agents of a platform use it over HTTP. This folder is the only code
 * of `serve` that names a family, `stores`. Start reading here; `README.md` lists the routes.
 */
import type { Runtime } from "../../runtime/api.ts";
import { fieldsOfQuery } from "./fields.ts";
import { forgetNote, noteListFields, pushNotes, putNote, readNotes } from "./note-routes.ts";
import type { StorageAnswer } from "./storage-answer.ts";
import type { StorageCaller } from "./storage-caller.ts";
import type { StorageTarget } from "./storage-target.ts";
import { deleteEntry, getEntry, putEntry, readStores, share, unshare } from "./store-routes.ts";

export interface StorageRequest {
  readonly target: StorageTarget;
  /** One that the target has. */
  readonly method: string;
  /** Without its question mark. */
  readonly query: string;
  /** Parsed JSON. Only `PUT` and `POST` have one. */
  readonly body: unknown;
  /**
   * Whether the request has a content type. The Python client sends one with every request of its model's tool, also
   * without a body, and none when a program reads what it has set.
   */
  readonly hasContentType: boolean;
}

/** Throws `StorageRefusal`. Never rejects because a call has failed. */
export async function answerStorage(request: StorageRequest, caller: StorageCaller): Promise<StorageAnswer> {
  const { target, method, body, hasContentType } = request;
  const query = fieldsOfQuery(request.query, target.kind === "notes" ? noteListFields : []);
  if (target.kind === "entry") {
    const { key } = target;
    if (method === "PUT") return await putEntry(caller, { key, query, body });
    if (method === "DELETE") return await deleteEntry(caller, { key, query });
    return await getEntry(caller, { key, query, isProgram: !hasContentType });
  }
  if (target.kind === "entries") {
    if (method === "POST") return await share(caller, query, body);
    return method === "DELETE" ? await unshare(caller, query) : await readStores(caller, query);
  }
  if (method === "PUT") return await putNote(caller, query, body);
  if (method === "POST") return await pushNotes(caller, query, body);
  return method === "DELETE" ? await forgetNote(caller, query) : await readNotes(caller, query);
}

/** Throws a `RangeError` if no plugin has the tools that the routes call. A policy can take some of them away. */
export function checkStorageTools(runtime: Runtime): void {
  if (runtime.families().some(({ name }) => name === "stores")) return;
  if (runtime.tools().some(({ name }) => name === "memory")) return;
  throw new RangeError(
    'Cannot serve the storage routes: the plugin "stores" is not loaded, allowed: with --plugin stores, beside the other plugins',
  );
}
