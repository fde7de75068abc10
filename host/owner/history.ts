/** The versions of a user's files: lists them, compares two, and puts the content of an earlier one back, as a new version. */
import { shownPath } from "../../shared/encoded-name.ts";
import { isAtLeast } from "../../shared/origin.ts";
import { isTrashPath } from "../../shared/path.ts";
import { quoted } from "../../shared/text.ts";
import * as z from "../../shared/zod.ts";
import type { LoadedTools } from "../plugins/tools.ts";
import type { HeldHome } from "../store/held-homes.ts";
import { decodeText, digestOf } from "../store/reading.ts";
import type { Version, VersionedFile } from "../store/versions/version.ts";
import type { Place } from "../values/change-set.ts";
import { ToolError } from "../values/tool-error.ts";
import { giveTurn, inTurns, sorted } from "../values/turns.ts";
import { defineOperation } from "./define-operation.ts";
import { checkHasScope, derivedChanges } from "./derived-changes.ts";
import { count, optional, text } from "./field.ts";
import { placesIn } from "./file-places.ts";
import type { FileVersion, HistoryOptions, DiffOptions, FileDiff, RestoredVersion } from "./file-version.ts";
import { fileFields, findVersioned, namedFiles, noEntry, typedPath } from "./find-file.ts";
import type { NamedFile } from "./find-file.ts";
import { keptContent } from "./kept-content.ts";
import type { Operation } from "./operation.ts";
import { originWords } from "./origin-words.ts";
import { applyPlan, planFrom, withMade } from "./plan.ts";
import type { Plan } from "./plan.ts";
import { shownTime } from "./told.ts";
import type { Told } from "./told.ts";
import { unifiedDiff } from "./unified-diff.ts";
import { checkScopes, eachPart } from "./user-scopes.ts";

const fields = {
  ...fileFields,
  name: text("NAME", "the name of an entry, or the path of a file; also of a deleted one"),
};
const versionNumber = "the number of a version, as the history shows it";

export const history = defineOperation({
  name: "history",
  action: "show the history",
  changes: false,
  fields: {
    name: optional(fields.name),
    scope: optional(text("SCOPE", "only the files of this scope (default: all scopes)")),
    path: optional(text("PATH", "only the file with this path")),
  },
  run: versionsOf,
  command: {
    name: "history",
    summary: "shows every version of an entry, or of all, and where each comes from",
    description: `Shows every version of an entry, or of everything, the latest first: when it was written, what it did, and where its text
comes from. Files that plugins make from others, such as an index, are left out; --json has them, with hashes, runs and sources.

How far a text is trusted never rises by an edit, a move or an import, only when you approve it. An edit by hand has a version
once a later change has met it. "diff" and "restore" refuse a version whose content is no longer kept.`,
    operands: ["name"],
    examples: ["memcell history", "memcell history editor", "memcell history 2026/11/26.md --scope journal --json"],
    tells: (versions: readonly FileVersion[]) => [
      {
        heads: ["when", "version", "change", "what", "where it comes from"],
        rows: versions.filter((version) => !version.isDerived).map(rowOf),
        numbers: [1],
      },
    ],
  },
});

/** Every version of the user's files, or of some of them, the latest first. */
async function versionsOf(operation: Operation, { name, scope, path }: HistoryOptions): Promise<FileVersion[]> {
  const { tools } = operation;
  const only = scope === undefined ? undefined : [scope];
  const parts = await eachPart(operation, { mode: "read", only }, async ({ held, scopes, hidden }) => {
    const files: FileVersion[] = [];
    // A scope that is empty by now still has a history.
    for (const version of await held.history.versions()) {
      await giveTurn();
      for (const file of version.files) if (!hidden.includes(file.scope)) files.push(versionIn(tools, version, file));
    }
    return { scopes, files };
  });
  const all = parts.flatMap((part) => part.files);
  checkScopes("show the history of", only, [
    ...parts.flatMap(({ scopes }) => scopes),
    ...all.map((file) => file.scope),
  ]);
  const typed = path === undefined ? undefined : typedPath(path);
  const isAsked = (file: FileVersion): boolean =>
    (scope === undefined || file.scope === scope) && (typed === undefined || file.path === typed);
  const asked = await inTurns(sorted(all.filter(isAsked), latestFirst));
  const named = name === undefined ? asked : [...(await namedFiles(operation, asked, name))];
  if (named.length === 0 && name !== undefined) throw await noEntry(operation, name, asked);
  return named;
}

function versionIn(
  tools: LoadedTools,
  { atMs, files: _files, prev: _prev, ...ofAll }: Version,
  file: VersionedFile,
): FileVersion {
  const facts = { at: new Date(atMs), entry: tools.entryAt(file), isDerived: tools.isDerivedAt(file) };
  return Object.assign(facts, ofAll, file);
}

const latestFirst = (a: FileVersion, b: FileVersion): number => b.at.getTime() - a.at.getTime() || b.seq - a.seq;

function rowOf(version: FileVersion): string[] {
  const { at, seq, scope: of, path, entry, run } = version;
  const from = run === null ? originWords(version) : `${originWords(version)}, run ${run}`;
  return [shownTime(at), String(seq), changeOf(version), entry ?? shownPath(`${of}/${path}`), from];
}

export function changeOf({ kind, tool, before, sha256, from }: FileVersion): string {
  if (kind === "approved" && tool === "vouch") return "confirmed";
  if (kind === "approved" && tool === "edit") return "edited";
  if (kind !== undefined) return kind;
  if (sha256 === null) return "gone";
  if (from !== undefined) return "moved";
  return before === null ? "new" : "changed";
}

export const diff = defineOperation({
  name: "diff",
  action: "compare versions of",
  changes: false,
  fields: {
    ...fields,
    from: {
      ...text("A", `${versionNumber}; "before": what it was before B`),
      schema: z.union([z.literal("before"), z.int()]),
      expected: `${versionNumber}, or "before"`,
      read: (typed) => (typed === "before" ? typed : count("", "").read?.(typed)),
    },
    to: optional(count("B", `${versionNumber} (default: the present content)`, versionNumber)),
  },
  check: ({ from, to }) =>
    from === "before" && to === undefined ? '"before" needs the number of a version after it' : null,
  run: (operation, { name: named, ...options }) => diffVersions(operation, named, options),
  command: {
    name: "diff",
    summary: "shows what differs between two versions of an entry",
    description: `Shows the difference of two versions of a file as a unified diff. "diff NAME before 7" shows what version 7 has changed.`,
    operands: ["name", "from", "to"],
    examples: ["memcell diff editor 3 7", "memcell diff editor 3", "memcell diff editor before 7"],
    exitCodes: ["done, whether there is a difference or not", "failed"],
    tells: (found: FileDiff, { input: { from, to } }) =>
      differenceIn(found, [nameOf(from, to), to === undefined ? "now" : `version ${to}`]),
  },
});

const nameOf = (from: number | "before", to: number | undefined): string =>
  from === "before" ? `before version ${to}` : `version ${from}`;

function differenceIn(
  { scope: of, path, before, after, lines }: FileDiff,
  [first, second]: readonly [string, string],
): Told {
  const place = shownPath(`${of}/${path}`);
  if (lines === null) return [`${place}: ${before === after ? "the same" : "different"}, but not comparable as text`];
  const heads = [`--- ${place} (${orNone(first, before)})`, `+++ ${place} (${orNone(second, after)})`];
  return [...heads, { difference: lines }];
}

const orNone = (named: string, sha256: string | null): string => (sha256 === null ? `${named}: no file` : named);

export const restoreVersion = defineOperation({
  name: "restoreVersion",
  action: "restore a version of",
  changes: true,
  fields: { ...fields, version: count("N", versionNumber, versionNumber) },
  run: (operation, { name: named, scope: of, version }) => putBack(operation, { name: named, scope: of }, version),
  command: {
    name: "restore",
    summary: "puts an earlier version of an entry back",
    description: `Puts the content of a version back, also of a file that was removed. It becomes a new version, which is trusted no more than
the old one; what it replaces stays in the history. The index is made to fit.

What was deleted also lies in the trash: "memcell trash restore" needs no version.`,
    operands: ["name"],
    examples: ["memcell restore editor --version 3"],
    tells: ({ scope: of, path, outcome, seq }: RestoredVersion) => [
      `${shownPath(`${of}/${path}`)}: ${outcome}, as in version ${seq}`,
    ],
  },
});

/** Compares two versions of a file, or one with the present content. */
async function diffVersions(
  operation: Operation,
  name: string,
  { from, to, scope: only }: DiffOptions,
): Promise<FileDiff> {
  const { scope, path } = await findVersioned(operation, { name, scope: only });
  const { before, after } = await operation.hold("read", [scope], async (held) => {
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

/** A file, and one of the versions that have changed it. */
interface VersionPlace extends Place {
  readonly seq: number;
}

const versionsShownMax = 10;

/** What a version did to a file. Throws `ENTRY_NOT_FOUND` if it is none of the file's. */
async function versionOf(
  { action }: Operation,
  held: HeldHome,
  { scope, path, seq }: VersionPlace,
): Promise<VersionedFile> {
  const isIt = (each: VersionedFile): boolean => each.scope === scope && each.path === path;
  const own = (await held.history.versions()).filter(({ files }) => files.some(isIt));
  const file = own.find((each) => each.seq === seq)?.files.find(isIt);
  if (file !== undefined) return file;
  const shown = own.slice(-versionsShownMax).map((each) => each.seq);
  const others = own.length > shown.length ? "its last versions" : own.length > 1 ? "its versions" : "its only version";
  const reason = `version ${seq} is none of this file; ${others}: ${shown.join(", ")}`;
  throw new ToolError("ENTRY_NOT_FOUND", `Cannot ${action} ${quoted(shownPath(path))}: ${reason}`);
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
async function putBack(operation: Operation, named: NamedFile, seq: number): Promise<RestoredVersion> {
  const place = await findVersioned(operation, named);
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
  const own = await operation.hold("read", [scope], async (held) => {
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
  const made = await derivedChanges(operation, { ...own, scope, paths: [path] });
  // What the plugin cannot read comes back byte for byte, as from the trash.
  const ofAll = made.refused.find((each) => each.path === "");
  if (ofAll) throw new ToolError(ofAll.code, `${refusal}: ${ofAll.reason}`);
  return withMade(own, made);
}
