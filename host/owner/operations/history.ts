import { shownPath } from "../../../shared/encoded-name.ts";
import { quoted } from "../../../shared/text.ts";
import * as z from "../../../shared/zod.ts";
import { ToolError } from "../../values/tool-error.ts";
import { defineOperation } from "../define-operation.ts";
import { count, optional, text } from "../field.ts";
import type { FileDiff, FileVersion, RestoredVersion } from "../file-version.ts";
import { isEntry, typedPath } from "../find-file.ts";
import { diffVersions, listVersions, restoreVersion as putBack } from "../history.ts";
import type { Operation } from "../operation.ts";
import { originWords } from "../origin-words.ts";
import { shownTime } from "../told.ts";
import type { Told } from "../told.ts";

const name = text("NAME", "the name of an entry, or the path of a file; also of a deleted one");
const scope = optional(text("SCOPE", "the scope of the file, if files of several scopes have the name"));
const versionNumber = "the number of a version, as the history shows it";

interface HistoryInput {
  readonly name?: string | undefined;
  readonly scope?: string | undefined;
  readonly path?: string | undefined;
}

export const history = defineOperation({
  name: "history",
  action: "show the history",
  changes: false,
  fields: {
    name: optional(name),
    scope: optional(text("SCOPE", "only the files of this scope (default: all scopes)")),
    path: optional(text("PATH", "only the file with this path")),
  },
  run: versionsOf,
  commands: [
    {
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
      isEmpty: (versions) => versions.length === 0,
    },
  ],
});

async function versionsOf(operation: Operation, input: HistoryInput): Promise<FileVersion[]> {
  const { tools } = operation;
  const found = await listVersions(operation, input);
  const { name: asked } = input;
  const typed = asked === undefined ? undefined : typedPath(asked);
  const named = found.filter((file) => asked === undefined || file.path === typed || isEntry(tools, file, asked));
  if (named.length === 0 && asked !== undefined) {
    const where = input.scope === undefined ? "" : ` in ${quoted(input.scope)}`;
    throw new ToolError("ENTRY_NOT_FOUND", `Cannot ${operation.action}: there is none for ${quoted(asked)}${where}`);
  }
  return named.map((file) => {
    const facts = { entry: tools.entryAt(file), isDerived: tools.isDerivedAt(file) };
    return Object.assign(facts, file);
  });
}

function rowOf(version: FileVersion): string[] {
  const { at, seq, scope: of, path, entry, run } = version;
  const from = run === null ? originWords(version) : `${originWords(version)}, run ${run}`;
  return [shownTime(at), String(seq), changeOf(version), entry ?? shownPath(`${of}/${path}`), from];
}

function changeOf({ kind, tool, before, sha256, from }: FileVersion): string {
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
    name,
    from: {
      ...text("A", `${versionNumber}; "before": what it was before B`),
      schema: z.union([z.literal("before"), z.int()]),
      expected: `${versionNumber}, or "before"`,
      read: (typed) => (typed === "before" ? typed : count("", "").read?.(typed)),
    },
    to: optional(count("B", `${versionNumber} (default: the present content)`, versionNumber)),
    scope,
  },
  check: ({ from, to }) =>
    from === "before" && to === undefined ? '"before" needs the number of a version after it' : null,
  run: (operation, { name: named, ...options }) => diffVersions(operation, named, options),
  commands: [
    {
      name: "diff",
      summary: "shows what differs between two versions of an entry",
      description: `Shows the difference of two versions of a file as a unified diff. "diff NAME before 7" shows what version 7 has changed.`,
      operands: ["name", "from", "to"],
      examples: ["memcell diff editor 3 7", "memcell diff editor 3", "memcell diff editor before 7"],
      exitCodes: ["done, whether there is a difference or not", "failed"],
      tells: (found: FileDiff, { input: { from, to } }) =>
        differenceIn(found, [nameOf(from, to), to === undefined ? "now" : `version ${to}`]),
    },
  ],
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
  fields: { name, version: count("N", versionNumber, versionNumber), scope },
  run: (operation, { name: named, scope: of, version }) => putBack(operation, { name: named, scope: of }, version),
  commands: [
    {
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
  ],
});
