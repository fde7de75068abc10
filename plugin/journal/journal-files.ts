/** The files of a journal: lists and reads them, and records which cannot be read. */
import type { ListedFile } from "../../shared/abi.ts";
import { counted, quoted } from "../../shared/text.ts";
import { Scope } from "../capabilities.ts";
import { ToolError } from "../tool-error.ts";
import { journalLimits } from "./journal-limits.ts";

export const journal: Scope = new Scope("journal");

export const summaryPath = "MEMORY.md";

export type BlockKind = "summary" | "daily";

/** `MEMORY.md`, in any case, is the summary; every other file is daily. */
export function kindOf(path: string): BlockKind {
  return path.toLowerCase() === "memory.md" ? "summary" : "daily";
}

/** Whether the tools read a file. */
export function isJournalFile(path: string): boolean {
  return path.slice(-".md".length).toLowerCase() === ".md";
}

/** The files of the user's journal, and which of them could not be read. */
export class JournalFiles {
  readonly #files: readonly ListedFile[];
  readonly #unreadable: string[] = [];
  #blocksCut = 0;
  #blocksRead = 0;

  constructor() {
    this.#files = journal.list().filter(({ path }) => isJournalFile(path));
    const { filesMax } = journalLimits;
    if (this.#files.length > filesMax) {
      throw new ToolError(
        "MEMORY_STORAGE_ERROR",
        `Cannot look through the memory: it has ${this.#files.length} files, at most ${filesMax} allowed`,
      );
    }
  }

  /** Sorted by path. */
  of(kind: BlockKind): ListedFile[] {
    return this.#files.filter(({ path }) => kindOf(path) === kind);
  }

  /** Returns a file's text, or `null` if it cannot be read or is gone. */
  read(path: string): string | null {
    try {
      return journal.read(path);
    } catch (error) {
      if (!isUnreadable(error)) throw error;
      this.#unreadable.push(path);
      return null;
    }
  }

  /** Whether a file surely has no word with one of the beginnings. See `Scope.wordsOf`. */
  hasNoneOf(path: string, beginnings: string): boolean {
    return journal.wordsOf(path, beginnings) === null;
  }

  /** Throws `MEMORY_STORAGE_ERROR` if the call has cut files into more blocks than it has time for. */
  countCut(count: number): void {
    this.#blocksCut += count;
    if (this.#blocksCut > journalLimits.blocksCutMax) throw tooManyBlocks(journalLimits.blocksCutMax, "skip");
  }

  /** Throws `MEMORY_STORAGE_ERROR` if the call has parsed more blocks than it has time for. */
  countRead(): void {
    this.#blocksRead++;
    if (this.#blocksRead > journalLimits.blocksReadMax) throw tooManyBlocks(journalLimits.blocksReadMax, "read");
  }

  /** The part of a message that names files that could not be read, with its semicolon; empty if there are none. */
  unreadableNote(): string {
    const count = this.#unreadable.length;
    if (count === 0) return "";
    const named = this.#unreadable.slice(0, journalLimits.namedMax).map((path) => quoted(path, 255));
    const more = count > named.length ? ` and ${count - named.length} more` : "";
    return `; ${counted(count, "file")} could not be read: ${named.join(", ")}${more}`;
  }
}

function tooManyBlocks(blocksMax: number, verb: string): ToolError {
  return new ToolError(
    "MEMORY_STORAGE_ERROR",
    `Cannot look through the memory: it has over ${blocksMax} blocks to ${verb}, at most ${blocksMax} allowed`,
  );
}

/** Returns the text of a file before it is changed; empty if there is no file. */
export function readToChange(path: string): string {
  try {
    return journal.read(path) ?? "";
  } catch (error) {
    if (!isUnreadable(error)) throw error;
    throw new ToolError("MEMORY_STORAGE_ERROR", `Cannot change ${quoted(path, 255)}: ${(error as ToolError).message}`);
  }
}

/** Whether an error concerns only this file. A denial does not, and ends the call. */
function isUnreadable(error: unknown): boolean {
  return error instanceof ToolError && ["ENTRY_UNREADABLE", "STORAGE_UNSAFE"].includes(error.code);
}
