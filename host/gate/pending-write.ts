/** A write that waits for the owner of the memory: what was called, and what it would change. */
import { originClasses } from "../../shared/origin.ts";
import { ownStoreName } from "../../shared/shared-scope.ts";
import * as z from "../../shared/zod.ts";
import { parseJson } from "../store/parse-json.ts";
import { decodeBytes, encodeBytes, storedBytesSchema } from "../store/stored-bytes.ts";
import type { SizedChange } from "../values/change-set.ts";
import { storeOfScope } from "../values/store-id.ts";
import { pendingIdOf } from "./pending-name.ts";

const sha256 = z.nullable(z.string().check(z.regex(/^[0-9a-f]{64}$/)));
const text = z.nullable(z.string());
const originClass = z.enum(originClasses);

/** As strict as a guest's request: people and other programs can write to the disk. */
const schema = z.strictObject({
  id: z.string(),
  atMs: z.int(),
  /** The time that the guest was given: run again with it, it writes the same. */
  epochMs: z.int(),
  tool: z.string(),
  plugin: z.string(),
  /** The call's input as JSON text. */
  input: z.string(),
  class: originClass,
  trust: originClass,
  run: text,
  turn: text,
  source: text,
  callId: z.string(),
  changes: z.array(
    z.strictObject({
      scope: z.string(),
      path: z.string(),
      /** SHA-256 of the content before; `null` if there was no file. */
      before: sha256,
      /** Where a file is moved to; `null` if it is written. */
      trashed: text,
      /** The new content, as text if it is UTF-8, else in base64; `null` for a file that is moved. */
      content: z.nullable(storedBytesSchema),
    }),
  ),
});

/** What the record of a waiting write says. Times are in milliseconds since 1970-01-01 UTC. */
export type PendingWrite = Readonly<z.infer<typeof schema>>;
export type PendingChange = Readonly<PendingWrite["changes"][number]>;
/** All facts but the id. */
export type PendingFacts = Omit<PendingWrite, "id">;

export const encodePending = (write: PendingWrite): string => JSON.stringify(write);

/** `null` if the text is none that a host has written under this id. */
export function decodePending(id: string, json: string | null): PendingWrite | null {
  const value = json === null ? undefined : parseJson(json);
  const parsed = z.safeParse(schema, value);
  return parsed.success && parsed.data.id === id && isUnderItsId(value as PendingWrite) ? parsed.data : null;
}

const isUnderItsId = ({ id, ...facts }: PendingWrite): boolean => pendingIdOf(facts) === id;

/** A change as it is shown. `before`: what the file is now. */
export function pendingChange(change: SizedChange, before: string | null): PendingChange {
  const { scope, path } = change;
  if (change.kind === "write") {
    return { scope, path, before, trashed: null, content: encodeBytes(Buffer.from(change.content)) };
  }
  return { scope, path, before, trashed: change.kind === "trash" ? change.trashed : null, content: null };
}

/** A change's scope, as the owner knows it: the own store is `store`. */
export const scopeOf = ({ scope }: Pick<PendingChange, "scope">): string =>
  storeOfScope(scope) === null ? scope : ownStoreName;

/** The new content of a change, if it is UTF-8. */
export const textOf = ({ content }: PendingChange): string | null =>
  content !== null && "text" in content ? content.text.toWellFormed() : null;

/** The new content of a change; `null` if the file is moved. */
export const contentOf = ({ content }: PendingChange): Buffer | null => content && decodeBytes(content);
