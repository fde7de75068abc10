/** The files of a journal: lists and reads them, and records which cannot be read. */
import type { ListedFile } from "../../shared/abi.ts";
import { decodedName, encodedPath } from "../../shared/encoded-name.ts";
import { counted, quoted } from "../../shared/text.ts";
import { NoUtf8, Scope } from "../kit/capabilities.ts";
import { beginsWithNul, damagedLines, hasReturnsAlone, whyDamaged, withLineFeeds } from "../kit/file-text.ts";
import { ToolError } from "../kit/tool-error.ts";
import { journalLimits } from "./journal-limits.ts";

export const journal: Scope = new Scope("journal");

/** What an answer's `shows` calls the files of results, which have the names that people gave them. */
export const placesOf = (results: readonly { readonly file: string }[]): string[] =>
  Array.from(new Set(results.map(({ file }) => journal.place(encodedPath(file) ?? file))));

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
  readonly #returnsAlone = new Set<string>();
  /** By path, the lines that are not UTF-8 text; empty if the file is UTF-16. */
  readonly #damaged = new Map<string, string>();
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

  /**
   * Returns a file's text, or `null` if it cannot be read or is gone. Of a file that is not UTF-8 text, what can be read:
   * one byte must not take the other blocks with it.
   */
  read(path: string): string | null {
    try {
      return this.#read(path);
    } catch (error) {
      if (!isUnreadable(error)) throw error;
      this.#unreadable.push(path);
      return null;
    }
  }

  /** The text of a file to which a block is added: empty if there is none, or if nothing of it can be read. */
  readToChange(path: string): string {
    try {
      return this.#read(path) ?? "";
    } catch (error) {
      if (!isUnreadable(error)) throw error;
      if (!(error instanceof NoUtf8)) {
        const { message } = error as ToolError;
        throw new ToolError("MEMORY_STORAGE_ERROR", `Cannot change ${shownFile(path)}: ${message}`);
      }
      this.#damaged.set(path, "");
      return "";
    }
  }

  /**
   * Writes a file that was read, with its own line ends. If it is not UTF-8 text, it cannot be written again as it was: it
   * goes to the trash, and its path there is returned.
   */
  write(path: string, text: string): string | null {
    const trashed = this.#damaged.has(path) ? journal.trash(path) : null;
    journal.write(path, this.#returnsAlone.has(path) ? text.replaceAll("\n", "\r") : text);
    return trashed;
  }

  /** With line feeds as line ends, and U+FFFD in place of what cannot be read. */
  #read(path: string): string | null {
    const text = this.#textOf(path);
    if (text === null) return null;
    if (beginsWithNul(text)) {
      this.#damaged.set(path, "");
      throw new NoUtf8(`Cannot read ${quoted(path)}: ${whyDamaged(text)}`, null);
    }
    if (!hasReturnsAlone(text)) return text;
    this.#returnsAlone.add(path);
    return withLineFeeds(text);
  }

  #textOf(path: string): string | null {
    try {
      return journal.read(path);
    } catch (error) {
      if (!(error instanceof NoUtf8) || error.readable === null) throw error;
      this.#damaged.set(path, damagedLines(error.readable));
      return error.readable;
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

  /** The part of a message that names what could not be read, with its semicolon; empty if there is nothing. */
  unreadableNote(): string {
    const damaged = Array.from(this.#damaged).filter(([, lines]) => lines !== "");
    const places = damaged.map(([path, lines]) => `${shownFile(path)} ${lines}`);
    return (
      noteOf("could not be read", this.#unreadable.map(shownFile)) +
      noteOf("could not be read in part, because not all of it is UTF-8 text", places)
    );
  }
}

/** As people see it. */
const shownFile = (path: string): string => quoted(decodedName(path), 255);

function noteOf(what: string, places: readonly string[]): string {
  if (places.length === 0) return "";
  const named = places.slice(0, journalLimits.namedMax);
  const more = places.length > named.length ? ` and ${places.length - named.length} more` : "";
  return `; ${counted(places.length, "file")} ${what}: ${named.join(", ")}${more}`;
}

function tooManyBlocks(blocksMax: number, verb: string): ToolError {
  return new ToolError(
    "MEMORY_STORAGE_ERROR",
    `Cannot look through the memory: it has over ${blocksMax} blocks to ${verb}, at most ${blocksMax} allowed`,
  );
}

/** Whether an error concerns only this file. A denial does not, and ends the call. */
function isUnreadable(error: unknown): boolean {
  return error instanceof ToolError && ["ENTRY_UNREADABLE", "STORAGE_UNSAFE"].includes(error.code);
}
