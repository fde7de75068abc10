/** What the owner does to one entry of any family: writes its text, moves it to the trash, or vouches for it. */
import { isDerived } from "../../shared/derived-files.ts";
import { isScopePath } from "../../shared/path.ts";
import { quoted } from "../../shared/text.ts";
import type { HeldHome } from "../store/held-homes.ts";
import { digestOf } from "../store/reading.ts";
import type { VersionKind } from "../store/versions/version.ts";
import type { SizedChange } from "../values/change-set.ts";
import { ToolError } from "../values/tool-error.ts";
import { freeTrashPath } from "../values/trash-path.ts";
import { commitPlanned } from "./commit-planned.ts";
import { derivedChanges } from "./derived-changes.ts";
import { findLive } from "./entries.ts";
import { FilePlaces } from "./file-places.ts";
import type { FilePlace, NamedFile } from "./find-file.ts";
import type { Operation } from "./operation.ts";
import type { ChangedEntry } from "./own-entry.ts";
import { checkHasScope } from "./restore.ts";
import { trashOf, trashPathOf } from "./trash.ts";
import { holdPart } from "./user-scopes.ts";

type Named = NamedFile & { readonly ifSha256?: string | undefined };

/** The whole of the new text is the owner's. */
export async function editEntry(operation: Operation, named: Named, text: string): Promise<ChangedEntry> {
  const content = Buffer.from(text);
  return await changeEntry(operation, named, "approved", async (_, place) => ({
    kind: "write",
    ...place,
    content,
    bytes: content.length,
  }));
}

/** The file stays as it is; from now on it is trusted as the owner's. */
export async function vouchFor(operation: Operation, named: Named): Promise<ChangedEntry> {
  return await changeEntry(operation, named, "approved", async (_, place, present) => ({
    kind: "write",
    ...place,
    content: present,
    bytes: present.length,
  }));
}

export async function trashEntry(operation: Operation, named: Named): Promise<ChangedEntry> {
  return await changeEntry(operation, named, undefined, async (held, place, present) => {
    const taken = new FilePlaces((await trashOf(held, place.scope)).map(trashPathOf));
    const trashed = freeTrashPath(place.path, operation.now(), (each) => taken.inTheWayOf(each) !== null);
    if (isScopePath(trashed)) return { kind: "trash", ...place, trashed, bytes: present.length };
    throw new ToolError("INPUT_INVALID", `Cannot ${operation.action}: its name would be too long in the trash`);
  });
}

/** Changes the file, and what its plugin makes from it, in one change set. */
async function changeEntry(
  operation: Operation,
  named: Named,
  kind: VersionKind | undefined,
  make: (held: HeldHome, place: FilePlace, present: Uint8Array) => Promise<SizedChange>,
): Promise<ChangedEntry> {
  const place = await findLive(operation, named);
  const { scope, path } = place;
  const refusal = `Cannot ${operation.action} ${quoted(named.name)}`;
  checkHasScope(operation, scope, refusal);
  if (isDerived(path, operation.tools.derivedFiles.get(scope) ?? [])) {
    throw new ToolError("INPUT_INVALID", `${refusal}: its plugin makes it from other files; change one of these`);
  }
  const parts = operation.parts;
  const scopes = parts.find((each) => each.includes(scope)) ?? [];
  const plan = async (inside: Operation) => {
    const task = { scopes, apart: new Set(parts.flat()), mode: "read" } as const;
    const own = await holdPart(inside, task, async ({ held }) => {
      const present = await held.bytesOf(scope, path);
      if (present === null) throw new ToolError("ENTRY_NOT_FOUND", `${refusal}: it has gone meanwhile`);
      if (named.ifSha256 !== undefined && named.ifSha256 !== digestOf(present)) {
        throw new ToolError("VERSION_CONFLICT", `${refusal}: it has changed since it was read`);
      }
      return { change: await make(held, place, present), present, seen: held.seen, head: held.history.state().head };
    });
    const made = await derivedChanges(inside, { scope, changes: [own.change], paths: [path] });
    const [refused] = made.refused;
    if (refused) throw new ToolError(refused.code, `${refusal}: ${refused.reason}`);
    return { ...own, changes: [own.change, ...made.changes], seen: [...own.seen, ...made.seen] };
  };
  const { change, present } = await commitPlanned(operation, { scopes, kind, plan });
  const content = change.kind === "write" ? change.content : present;
  const name = operation.tools.entryAt(place) ?? `${scope}/${path}`;
  return { name, scope, path, sha256: digestOf(Buffer.from(content)) ?? "" };
}
