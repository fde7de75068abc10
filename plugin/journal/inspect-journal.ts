/**
 * Reports what no tool of this family can use: files that are not text or not Markdown, and blocks too large for any
 * answer. It mends nothing, because only the author knows what to do. For imports, it reports which paths are a
 * journal's and which incoming files are not text.
 *
 * A key in several blocks is not an error: agentool writes a key again each day, and the newest block counts.
 */
import type { ListedFile } from "../../shared/abi.ts";
import type { InspectFinding, InspectInput, InspectOutput, RefusedPath } from "../../shared/roles.ts";
import { quoted } from "../../shared/text.ts";
import { NoUtf8 } from "../kit/capabilities.ts";
import { beginsWithNul, damaged, whyDamaged, withLineFeeds } from "../kit/file-text.ts";
import { hiddenFault } from "../kit/hidden-text.ts";
import { answerInspection, answerPaths } from "../kit/inspection.ts";
import type { Answer } from "../kit/serve-tool.ts";
import { ToolError } from "../kit/tool-error.ts";
import { isJournalFile, journal } from "./journal-files.ts";
import { journalLimits } from "./journal-limits.ts";
import { largeBlocksIn } from "./large-blocks.ts";

const { filesMax, blockCharsMax } = journalLimits;

export function inspectJournal({ mend, paths, incoming }: InspectInput): Answer<InspectOutput> {
  if (paths) return answerPaths(paths.filter((path) => !isJournalFile(path)).map(unfit), []);
  const files = journal.list();
  return answerInspection({ mend, incoming }, { found: findingsOf(files), codes, together: tooManyFiles(files) });
}

/** A block that is too large does not refuse the file: an import takes it along. */
const codes = { "file-unreadable": "ENTRY_UNREADABLE" } as const;

const isUnused = "its name does not end with .md, and no tool of the journal reads it";

const unfit = (path: string): RefusedPath => ({ path, code: "INPUT_INVALID", reason: isUnused });

function findingsOf(files: readonly ListedFile[]): InspectFinding[] {
  const own = files.filter(({ path }) => isJournalFile(path));
  const surplus = own.slice(filesMax, filesMax + 1);
  const crowded = `it is one of ${own.length} files, at most ${filesMax} can be read`;
  return [
    ...surplus.map(({ path }) => finding("too-many-files", path, crowded)),
    ...files.filter(({ path }) => !isJournalFile(path)).map(({ path }) => finding("file-unused", path, isUnused)),
    ...Array.from(foldersInPlace(files), (path) => finding("folder-in-place", path, isFolder)),
    ...own.slice(0, filesMax).flatMap(findingsOfFile),
  ];
}

const isFolder = "it is a folder, so nothing can be stored here";

/** Folders that lie where the tools write files. */
function foldersInPlace(files: readonly ListedFile[]): Set<string> {
  return new Set(files.flatMap(({ path }) => /^(?:\d{4}\/\d\d\/\d\d|MEMORY)\.md(?=\/)/.exec(path) ?? []));
}

function findingsOfFile({ path, bytes }: ListedFile): InspectFinding[] {
  try {
    const text = journal.read(path);
    if (text === null) return [];
    if (beginsWithNul(text)) return [damagedFinding(text, path)];
    // A text has no more characters than bytes.
    const isAscii = text.length === bytes;
    return [
      ...(isAscii ? [] : hiddenFindings(text, path)),
      ...(bytes > blockCharsMax ? largeFindings(withLineFeeds(text), path) : []),
    ];
  } catch (error) {
    if (!(error instanceof ToolError)) throw error;
    if (error instanceof NoUtf8) return [damagedFinding(error.readable, path)];
    // The host itself reports a file that it refuses to open.
    if (error.code === "STORAGE_UNSAFE") return [];
    throw error;
  }
}

function hiddenFindings(text: string, path: string): InspectFinding[] {
  const fault = hiddenFault("it", text);
  return fault === null ? [] : [finding("hidden-character", path, fault)];
}

function largeFindings(text: string, path: string): InspectFinding[] {
  return largeBlocksIn(text).map(({ key, length }) => {
    const message = `its block ${quoted(key)} has ${length} characters, at most ${blockCharsMax} can be shown`;
    return finding("block-too-large", path, message);
  });
}

/** What can be read is read, and the next write moves the file to the trash. */
function damagedFinding(readable: string | null, path: string): InspectFinding {
  if (readable === null) return finding("file-unreadable", path, whyDamaged(readable));
  if (beginsWithNul(readable)) return finding("text-damaged", path, whyDamaged(readable));
  const rest = damaged.test(readable) ? "the rest of it can be read" : "it is read as such";
  return finding("text-damaged", path, `${whyDamaged(readable)}; ${rest}`);
}

type JournalProblem =
  | "too-many-files"
  | "file-unused"
  | "file-unreadable"
  | "text-damaged"
  | "hidden-character"
  | "block-too-large"
  | "folder-in-place";

function finding(problem: JournalProblem, path: string, message: string): InspectFinding {
  return { problem, path, message, remedy: null };
}

function tooManyFiles(files: readonly ListedFile[]): RefusedPath[] {
  const present = files.filter(({ path }) => isJournalFile(path)).length;
  const reason = `the user would have ${present} files in the journal, at most ${filesMax} allowed`;
  return present > filesMax ? [{ path: "", code: "QUOTA_EXCEEDED", reason }] : [];
}
