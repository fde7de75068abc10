/** The tool: sorts names, or reads files one after the other until the answer is full. */
import type { ConvertInput, ConvertOutput } from "../../shared/roles.ts";
import { quoted, utf8Bytes } from "../../shared/text.ts";
import { opensFrontMatter } from "../kit/front-matter.ts";
import { inputError } from "../kit/tool-error.ts";
import { readExport, seemsExport } from "./export-items.ts";
import { formatOf, formats, isFormat, isIndexPath, noNames, sortPaths } from "./formats.ts";
import type { Format, NamesSeen } from "./formats.ts";
import { Intake } from "./intake.ts";
import type { IntakeCarry } from "./intake.ts";
import { readList, seemsList } from "./list-lines.ts";
import { readIndex } from "./memory-index.ts";
import { readNote } from "./notes.ts";
import type { FilePiece, OpenFile, Reading } from "./reading.ts";

/** What the guest of the next call has to know. */
interface Carry extends IntakeCarry {
  readonly seen: NamesSeen;
  /** What the index says of a file, by its path. */
  readonly hooks: Record<string, string>;
  /** Whose memories an export has: those of others are not taken. */
  readonly owner: string | null;
  readonly open: OpenFile | null;
}

const nothingYet: Carry = { taken: "", made: "", seen: noNames, hooks: {}, owner: null, open: null };

export function convertFiles(input: ConvertInput): ConvertOutput {
  const { paths, files } = input;
  if (paths === undefined && files === undefined) throw wrongInput("paths", "missing", "either paths or files");
  if (paths !== undefined && files !== undefined) throw wrongInput("files", "beside paths", "either paths or files");
  const carry = whatIsThere(input, carryIn(input.carry));
  return files === undefined ? namesSorted(paths ?? [], carry) : filesRead(input, files, carry);
}

/** The carry of an intake that knows what is there. */
function whatIsThere({ taken = [], present = [] }: ConvertInput, carry: Carry): Carry {
  if (taken.length + present.length === 0) return carry;
  const intake = new Intake(carry, taken, 0);
  for (const { path, content } of present) intake.know(path, content);
  return { ...carry, ...intake.carry() };
}

function namesSorted(paths: readonly string[], carry: Carry): ConvertOutput {
  const { wants, left, seen } = sortPaths(paths, carry.seen);
  return { format: formatOf(seen), wants, entries: [], left, rest: null, carry: JSON.stringify({ ...carry, seen }) };
}

function filesRead(
  { format = "" }: ConvertInput,
  files: NonNullable<ConvertInput["files"]>,
  carry: Carry,
): ConvertOutput {
  if (!isFormat(format)) throw wrongInput("format", quoted(format), `one of ${formats.join(", ")}`);
  const intake = new Intake(carry, [], utf8Bytes(JSON.stringify(carry.hooks)));
  const reading: Reading = { intake, format, hooks: carry.hooks, owner: carry.owner };
  let { open } = carry;
  let rest: ConvertOutput["rest"] = null;
  for (const { path, text, more = false } of files) {
    const piece = { path, text, more };
    const before = open?.path === path ? open : null;
    if (intake.isClosed) {
      open = passed(intake, path, before);
    } else if (intake.isFull) {
      rest = { path, bytes: 0 };
      break;
    } else {
      open = before ?? opened(piece, format);
    }
    const used = read(reading, piece, open);
    if (used < text.length || more) {
      rest = { path, bytes: utf8Bytes(text.slice(0, used)) };
      break;
    }
    open = null;
  }
  if (files.length === 0) addUnread(reading);
  const { entries, left } = intake;
  const next: Carry = { ...carry, ...intake.carry(), hooks: reading.hooks, owner: reading.owner, open };
  return { format, wants: [], entries, left, rest, carry: JSON.stringify(next) };
}

/** What an index says of files that are not there. */
function addUnread({ intake, hooks }: Reading): void {
  for (const [path, body] of Object.entries(hooks)) {
    const titles = [path.slice(path.lastIndexOf("/") + 1).replace(/\.md$/, "")];
    if (intake.isClosed) intake.leave(path, `it is not there; the index says: ${quoted(body)}`);
    else
      intake.add(path, {
        titles,
        description: null,
        type: "reference",
        created: null,
        updated: null,
        others: "",
        body,
      });
    delete hooks[path];
  }
}

function opened({ path, text, more }: FilePiece, format: Format): OpenFile {
  const isExport = format === "mem0" || (/\.json$/i.test(path) && seemsExport(text));
  const isList = format === "list" && !opensFrontMatter(text) && (/\.te?xt$/i.test(path) || seemsList(text, more));
  return { path, way: isExport ? "export" : isList ? "list" : "note", counted: 0 };
}

/** What is not read because there are too many entries is named once. */
function passed(intake: Intake, path: string, before: OpenFile | null): OpenFile {
  const what = before === null ? "it" : "its rest";
  if (before?.way !== "passed")
    intake.leave(path, `${what} is beyond the ${intake.count} entries that move in at once`);
  return { path, way: "passed", counted: 0 };
}

function read(reading: Reading, piece: FilePiece, open: OpenFile): number {
  if (open.way === "passed") return piece.text.length;
  if (open.way === "export") return readExport(reading, piece, open);
  if (open.way === "list") return readList(reading, piece, open);
  const isWholeIndex = isIndexPath(piece.path) && !piece.more && open.note === undefined;
  if (isWholeIndex && readIndex(reading, piece)) return piece.text.length;
  return readNote(reading, piece, open);
}

function carryIn(text: string | undefined): Carry {
  if (text === undefined || text === "") return nothingYet;
  try {
    return { ...nothingYet, ...(JSON.parse(text) as Carry) };
  } catch {
    throw wrongInput("carry", quoted(text), "the carry of the answer before");
  }
}

const wrongInput = (field: string, value: string, allowed: string): Error =>
  inputError("ConvertFiles", [{ field, value, allowed }]);
