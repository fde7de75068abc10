/** The versions of a user's files: lists them, compares two, and puts the content of an earlier one back, as a new version. */
import { storeLimits } from "../../shared/limits.ts";
import { isAtLeast } from "../../shared/origin.ts";
import { isTrashPath } from "../../shared/path.ts";
import { quoted } from "../../shared/text.ts";
import type { HeldHome } from "../store/held-homes.ts";
import { decodeText, digestOf } from "../store/reading.ts";
import type { Version } from "../store/versions/version.ts";
import { ToolError } from "../values/tool-error.ts";
import { giveTurn, inTurns, sorted } from "../values/turns.ts";
import { derivedChanges } from "./derived-changes.ts";
import { placesIn } from "./file-places.ts";
import type { FileVersion, HistoryOptions, DiffOptions, FileDiff, RestoredVersion } from "./file-version.ts";
import { findFile, typedPath, versionOf } from "./find-file.ts";
import type { NamedFile, VersionPlace } from "./find-file.ts";
import { keptContent } from "./kept-content.ts";
import type { Operation } from "./operation.ts";
import { applyPlan, planFrom, withMade } from "./plan.ts";
import type { Plan } from "./plan.ts";
import { checkHasScope } from "./restore.ts";
import { unifiedDiff } from "./unified-diff.ts";
import { checkScopes, eachPart } from "./user-scopes.ts";

/** Every version of the user's files, the latest first. */
export async function listVersions(operation: Operation, { scope, path }: HistoryOptions): Promise<VersionOfFile[]> {
  const only = scope === undefined ? undefined : [scope];
  const parts = await eachPart(operation, { mode: "read", only }, async ({ held: { history }, scopes, hidden }) => {
    const ofPart: VersionOfFile[] = [];
    // A scope that is empty by now still has a history.
    for (const version of await history.versions()) {
      await giveTurn();
      for (const file of filesOf(version)) if (!hidden.includes(file.scope)) ofPart.push(file);
    }
    return { scopes, files: ofPart };
  });
  const files = parts.flatMap((part) => part.files);
  checkScopes("show the history of", only, [
    ...parts.flatMap(({ scopes }) => scopes),
    ...files.map((file) => file.scope),
  ]);
  const typed = path === undefined ? undefined : typedPath(path);
  const isAsked = (file: VersionOfFile): boolean =>
    (scope === undefined || file.scope === scope) && (typed === undefined || file.path === typed);
  return await inTurns(sorted(files.filter(isAsked), latestFirst));
}

/** A version without what only plugins say of its file. */
type VersionOfFile = Omit<FileVersion, "entry" | "isDerived">;

const latestFirst = (a: VersionOfFile, b: VersionOfFile): number => b.at.getTime() - a.at.getTime() || b.seq - a.seq;

function filesOf({ files, atMs, prev: _prev, ...ofAll }: Version): VersionOfFile[] {
  const at = new Date(atMs);
  return files.map((file) => Object.assign({ at }, ofAll, file));
}

/** Compares two versions of a file, or one with the present content. */
export async function diffVersions(
  operation: Operation,
  name: string,
  { from, to, scope: only }: DiffOptions,
): Promise<FileDiff> {
  const { scope, path } = await findFile(operation, { name, scope: only });
  const { before, after } = await operation.hold({ scopes: [scope], mode: "read" }, async (held) => {
    const at = (seq = 0): VersionPlace => ({ scope, path, seq });
    return {
      before: await (from === "before"
        ? contentIn(operation, held, at(to), "before")
        : contentIn(operation, held, at(from))),
      after: await (to === undefined ? held.bytesOf(scope, path) : contentIn(operation, held, at(to))),
    };
  });
  return { scope, path, before: digestOf(before), after: digestOf(after), lines: await linesOf(before, after) };
}

/**
 * What a file was before a version, or after it; `null` if there was no file. Throws `ENTRY_NOT_FOUND` if the content is no
 * longer kept: the oldest go first, and those of purged files with their purge.
 */
async function contentIn(
  operation: Operation,
  held: HeldHome,
  file: VersionPlace,
  side: "before" | "sha256" = "sha256",
): Promise<Uint8Array | null> {
  const { path, seq } = file;
  const { [side]: sha256 } = await versionOf(operation, held, file);
  const content = sha256 === null ? null : await keptContent(held, sha256);
  if (sha256 === null || content !== null) return content;
  const which = `the content ${side === "before" ? "before" : "of"} version ${seq}`;
  throw new ToolError("ENTRY_NOT_FOUND", `Cannot ${operation.action} ${quoted(path)}: ${which} is no longer kept`);
}

/** A missing file has no lines. */
async function linesOf(...both: readonly (Uint8Array | null)[]): Promise<string[] | null> {
  try {
    const [before = "", after = ""] = both.map((bytes) => (bytes === null ? "" : decodeText(bytes, "")));
    return await unifiedDiff(before, after);
  } catch (error) {
    if (error instanceof ToolError && error.code === "ENTRY_UNREADABLE") return null;
    throw error;
  }
}

/** Puts the content of an earlier version of a file back, as a new version. */
export async function restoreVersion(operation: Operation, named: NamedFile, seq: number): Promise<RestoredVersion> {
  const place = await findFile(operation, named);
  const { scope, path } = place;
  const refusal = `Cannot ${operation.action} ${quoted(path)}`;
  if (isTrashPath(path))
    throw new ToolError("INPUT_INVALID", `${refusal}: it is in the trash, which is restored by name`);
  checkHasScope(operation, scope, refusal);
  const plan = (inside: Operation): Promise<RestoringPlan> => planRestored(inside, { ...place, seq }, refusal);
  const { wasMissing, changes } = await applyPlan(operation, { scopes: [scope], kind: "restored", plan });
  return { scope, path, seq, outcome: changes.length === 0 ? "unchanged" : wasMissing ? "created" : "replaced" };
}

interface RestoringPlan extends Plan {
  readonly wasMissing: boolean;
}

async function planRestored(operation: Operation, file: VersionPlace, refusal: string): Promise<RestoringPlan> {
  const { scope, path, seq } = file;
  const own = await operation.hold({ scopes: [scope], mode: "read" }, async (held) => {
    const content = await contentIn(operation, held, file);
    if (content === null) {
      const reason = `after version ${seq} there was no such file, name an earlier one`;
      throw new ToolError("ENTRY_NOT_FOUND", `${refusal}: ${reason}`);
    }
    const present = await held.bytesOf(scope, path);
    const other = present === null ? (await placesIn(held, scope)).inTheWayOf(path) : null;
    if (other !== null) throw new ToolError("NAME_CONFLICT", `${refusal}: ${quoted(other)} is in its place`);
    const write = { kind: "write", scope, path, content, bytes: content.length } as const;
    // The same text that was trusted less: somebody has confirmed it by mistake.
    const [{ trust }, now] = [await versionOf(operation, held, file), await held.history.originOf(scope, path)];
    const isSame = digestOf(present) === digestOf(content) && isAtLeast(trust, now?.trust ?? trust);
    return { ...planFrom(held, isSame ? [] : [write]), wasMissing: present === null };
  });
  if (own.changes.length === 0) return own;
  const made = await derivedChanges(operation, { ...own, scope, paths: [path], freedBytes: storeLimits.scopeBytesMax });
  // What the plugin cannot read comes back byte for byte, as from the trash.
  const ofAll = made.refused.find((each) => each.path === "");
  if (ofAll) throw new ToolError(ofAll.code, `${refusal}: ${ofAll.reason}`);
  return withMade(own, made);
}
