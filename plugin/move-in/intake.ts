/**
 * What a call makes: entries, and what is left. It knows the names and texts of earlier calls from `carry`, gives each entry a
 * name of its own, and leaves out what is there already.
 */
import { callLimits } from "../../shared/limits.ts";
import type { ConvertOutput } from "../../shared/roles.ts";
import { utf8Bytes } from "../../shared/text.ts";
import { whyTooLarge } from "../kit/front-matter-bounds.ts";
import { joinFrontMatter, textBehindFrontMatter } from "../kit/front-matter.ts";
import { hashName } from "../kit/long-name.deferred.ts";
import { formatOwnFields } from "../user-memory/entry-file.ts";
import type { EntryFields } from "../user-memory/entry-file.ts";
import { entryLimits } from "../user-memory/entry-limits.ts";
import { entryPath } from "../user-memory/entry-name.ts";
import { asIndexDescription, describedByText } from "../user-memory/index-description.ts";
import { freeName, nameFrom } from "../user-memory/name-from.ts";
import { bodyParts } from "./body-parts.ts";

/** An entry without its name. */
export interface Draft extends Pick<EntryFields, "type" | "created" | "updated"> {
  /** What to name it after, the best first: a title, a file's name. If none gives a name, the text does. */
  readonly titles: readonly string[];
  /** `null`: what the text says. */
  readonly description: string | null;
  /** Further lines of front matter, each with its line end. */
  readonly others: string;
  readonly body: string;
}

/** What of it the next call has to know. */
export interface IntakeCarry {
  /** Names that are taken, folded, with a space between them. */
  readonly taken: string;
  /** Each entry's mark and name. */
  readonly made: string;
}

/** It leaves room for the texts, in an input and in an answer. */
const carryBytesMax = 160_000;
/** When an answer is full. One more entry and the carry fit beside it. */
const fullAt = 160_000;
const freshUntil = 16_384;
const roomBytes = callLimits.outputBytesMax - carryBytesMax - freshUntil;

/** A quarter of a hash: two texts with the same mark are one text. */
const markOf = (text: string): string => hashName(text).slice(0, markChars);
const markChars = 16;

export class Intake {
  readonly entries: ConvertOutput["entries"] = [];
  readonly left: ConvertOutput["left"] = [];
  readonly #taken: Set<string>;
  /** The name of each entry that was made, by its text's mark. */
  readonly #made: Map<string, string>;
  #carryBytes: number;
  #answerBytes = 0;

  /** `carried`: what else `carry` has, in bytes. */
  constructor(before: IntakeCarry, taken: readonly string[], carried: number) {
    this.#taken = new Set([...listIn(before.taken), ...taken.map((name) => name.toLowerCase())]);
    const made = listIn(before.made).map((each) => [each.slice(0, markChars), each.slice(markChars)] as const);
    this.#made = new Map(made);
    for (const name of this.#made.values()) this.#taken.add(name.toLowerCase());
    const { taken: others, made: own } = this.carry();
    this.#carryBytes = others.length + own.length + carried;
  }

  /** Whether the rest is for the next call. */
  get isFull(): boolean {
    return this.#answerBytes >= fullAt || this.isClosed;
  }

  /** Whether no later call can know of more entries. */
  get isClosed(): boolean {
    return this.#carryBytes >= carryBytesMax;
  }

  /** Whether it has room for an item as large as a piece. */
  get isFresh(): boolean {
    return this.#answerBytes < freshUntil;
  }

  /** How many entries were made, in all calls. */
  get count(): number {
    return this.#made.size;
  }

  carry(): IntakeCarry {
    const names = new Set(Array.from(this.#made.values(), (name) => name.toLowerCase()));
    const taken = [...this.#taken].filter((name) => !names.has(name)).join(" ");
    return { taken, made: Array.from(this.#made, ([mark, name]) => mark + name).join(" ") };
  }

  leave(path: string, reason: string): void {
    this.left.push({ path, reason });
    this.#answerBytes += 3 * (path.length + reason.length) + 24;
  }

  /** An entry that is there. */
  know(path: string, content: string): void {
    const name = path.slice(0, -".md".length);
    const text = textBehindFrontMatter(content).trim();
    this.#taken.add(name.toLowerCase());
    if (text !== "") this.#made.set(markOf(text), name);
  }

  /** Makes an entry, or several of a text that is too large for one. `part`: which part of a file's text it is already. */
  add(path: string, draft: Draft, part: number | null = null): void {
    const text = draft.body.trim();
    // Two texts can have a part that is the same.
    const mark = markOf(part === null && text !== "" ? text : `${path} ${part} ${this.count}`);
    const same = this.#made.get(mark);
    if (same !== undefined) return this.leave(path, `its text is that of ${entryPath(same)}`);
    const parts = bodyParts(draft.body);
    const [first = ""] = parts;
    if (parts.length === 1) return this.#addEntry(path, draft, mark, part);
    if (jsonBytes(draft.body) > roomBytes - freshUntil) return this.leave(path, "one of its texts is too large");
    this.#addEntry(path, { ...draft, body: first }, mark, 1);
    const titles = [this.#made.get(mark) ?? ""];
    for (const [at, body] of parts.slice(1).entries())
      this.#addEntry(path, { ...draft, titles, others: "", body }, markOf(`${path} ${at} ${this.count}`), at + 2);
  }

  #addEntry(path: string, draft: Draft, mark: string, part: number | null): void {
    const said =
      draft.description === null ? describedByText(draft.body, "") : asIndexDescription(draft.description, "");
    const name = this.#nameOf(draft, said);
    const content = contentOf(name, draft, lineOf(said || name, part));
    const bytes = jsonBytes(content);
    if (bytes > roomBytes - fullAt) return this.leave(path, "it has too many control characters to be a text");
    this.entries.push({ path: entryPath(name), content });
    this.#answerBytes += bytes + 2 * name.length + 40;
    this.#made.set(mark, name);
    this.#taken.add(name.toLowerCase());
    this.#carryBytes += mark.length + name.length + 1;
  }

  #nameOf({ titles }: Draft, said: string): string {
    const named = titles.map((title) => nameFrom(title)).filter((name) => name !== "");
    const isTaken = (folded: string): boolean => this.#taken.has(folded);
    const free = named.find((name) => freeName(name, isTaken) === name);
    return freeName(free ?? named[0] ?? (nameFrom(said, entryLimits.nameOfTextCharsMax) || "note"), isTaken);
  }
}

function contentOf(name: string, { type, created, updated, others, body }: Draft, description: string): string {
  return joinFrontMatter(formatOwnFields({ name, description, type, created, updated }) + others, body);
}

/** A description that says which part of a text it is of. */
function lineOf(said: string, part: number | null): string {
  if (part === null) return said;
  const end = ` (part ${part})`;
  return (
    Array.from(said)
      .slice(0, entryLimits.descriptionCharsMax - end.length)
      .join("")
      .trimEnd() + end
  );
}

/** Whether front matter has room for further lines beside an entry's own fields. */
export const fitsBesideFields = (others: string): boolean =>
  whyTooLarge(others + "x: y\n".repeat(ownLines) + "x".repeat(ownCharsMax)) === null;

const ownLines = 5;
const ownCharsMax = 1_024;

const jsonBytes = (text: string): number => utf8Bytes(JSON.stringify(text));

const listIn = (text: string): string[] => (text === "" ? [] : text.split(" "));
