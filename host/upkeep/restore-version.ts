/** Puts the content of an earlier version of a file back, as a new version. */
import { isTrashPath } from "../../shared/path.ts";
import { quoted } from "../../shared/text.ts";
import { digestOf } from "../store/reading.ts";
import type { VersionHead } from "../store/versions/version.ts";
import type { SizedChange } from "../values/change-set.ts";
import { ToolError } from "../values/tool-error.ts";
import { commitPlanned } from "./commit-planned.ts";
import { derivedChanges } from "./derived-changes.ts";
import { FilePlaces } from "./file-places.ts";
import type { RestoredVersion } from "./file-version.ts";
import { findFile, versionOf } from "./find-file.ts";
import type { FilePlace, NamedFile } from "./find-file.ts";
import { keptContent } from "./kept-content.ts";
import type { Operation } from "./operation.ts";
import { checkHasScope } from "./restore.ts";
import { holdPart } from "./user-scopes.ts";
import type { HeldPart } from "./user-scopes.ts";

export async function restoreVersion(operation: Operation, named: NamedFile, seq: number): Promise<RestoredVersion> {
  const place = await findFile(operation, named);
  const { scope, path } = place;
  const refusal = `Cannot ${operation.action} ${quoted(path)}`;
  if (isTrashPath(path))
    throw new ToolError("INPUT_INVALID", `${refusal}: it is in the trash, which is restored by name`);
  checkHasScope(operation, scope, refusal);
  const parts = await operation.parts();
  const scopes = parts.find((each) => each.includes(scope)) ?? [];
  const plan = async (inside: Operation): Promise<Restoring> => {
    const task = { scopes, apart: new Set(parts.flat()), writes: false };
    const own = await holdPart(inside, task, (part) => planRestored(inside, part, { ...place, seq }));
    return { ...own, ...(await withDerived(inside, place, own)) };
  };
  const planned = await commitPlanned(operation, { scopes, kind: "restored", plan });
  const { wasMissing, changes } = planned;
  return { scope, path, seq, outcome: changes.length === 0 ? "unchanged" : wasMissing ? "created" : "replaced" };
}

interface Restoring {
  readonly changes: readonly SizedChange[];
  readonly seen: HeldPart["reader"]["seen"];
  readonly head: VersionHead;
  readonly wasMissing: boolean;
}

async function planRestored(
  operation: Operation,
  { held, reader }: HeldPart,
  file: FilePlace & { readonly seq: number },
): Promise<Restoring> {
  const { scope, path, seq } = file;
  const refusal = `Cannot ${operation.action} ${quoted(path)}`;
  const { sha256 } = await versionOf(operation, held, file);
  if (sha256 === null) {
    throw new ToolError(
      "ENTRY_NOT_FOUND",
      `${refusal}: after version ${seq} there was no such file, name an earlier one`,
    );
  }
  const content = await keptContent(held, sha256);
  if (content === null) throw notKept(refusal, `the content of version ${seq}`);
  const present = await reader.bytesOf(scope, path);
  const wasMissing = present === null;
  const live = wasMissing ? await reader.list(scope, "") : [];
  const other = new FilePlaces(live.map((each) => each.path)).inTheWayOf(path);
  if (other !== null) throw new ToolError("NAME_CONFLICT", `${refusal}: ${quoted(other)} is in its place`);
  const write = { kind: "write", scope, path, content, bytes: content.length } as const;
  const changes = digestOf(present) === sha256 ? [] : [write];
  return { changes, seen: reader.seen, head: held.history.head, wasMissing };
}

/** The oldest contents go first, and those of purged files with their purge. */
export const notKept = (refusal: string, what: string): ToolError =>
  new ToolError("ENTRY_NOT_FOUND", `${refusal}: ${what} is no longer kept`);

/** What the plugin cannot read comes back byte for byte, as from the trash. */
async function withDerived(
  operation: Operation,
  { scope, path }: FilePlace,
  { changes, seen }: Restoring,
): Promise<Pick<Restoring, "changes" | "seen">> {
  const made = await derivedChanges(operation, { scope, changes, paths: changes.map((change) => change.path) });
  const ofAll = made.refused.find((each) => each.path === "");
  if (ofAll) throw new ToolError(ofAll.code, `Cannot ${operation.action} ${quoted(path)}: ${ofAll.reason}`);
  return { changes: [...changes, ...made.changes], seen: [...seen, ...made.seen] };
}
