/**
 * The history of formats 2 and 3, in `.memcell/history/`. It is only read, until its versions and contents are packed into segments.
 *
 *     versions-<seq>.jsonl   versions, one in a line; the name has the number of the first
 *     contents-<seq>.jsonl   the contents of these versions: in full, or as what differs from another one before
 *     present.json           where the present files come from, up to some version
 *     began-late             there were files before there was a history
 *     versions-lost          versions are missing
 *     aged                   when old contents were last looked for, and by which process
 */
import * as z from "../../../../shared/zod.ts";
import type { Directory } from "../../../disk/directory.ts";
import { readingSchema } from "../../../values/clock-reading.ts";
import type { ClockReading } from "../../../values/clock-reading.ts";
import { ToolError } from "../../../values/tool-error.ts";
import { digestOf, parseJson } from "../../reading.ts";
import { sha256Schema } from "../../versions/version.ts";
import { hashOfLine, journalLimits } from "./format.ts";
import type { HashedContent } from "./format.ts";

export const oldHistory = "history";
const namePattern = /^(versions|contents)-(\d{12})\.jsonl$/;

export class OldHistory implements Disposable {
  readonly folder: Directory;

  private constructor(folder: Directory) {
    this.folder = folder;
  }

  /** `null` if there is none. */
  static open(own: Directory): OldHistory | null {
    const folder = own.openFolder(oldHistory);
    return folder && new OldHistory(folder);
  }

  /** Whoever set a log up has made the folder. */
  get isEmpty(): boolean {
    return this.folder.entries().length === 0;
  }

  get beganLate(): boolean {
    return this.folder.measure("began-late") !== null;
  }

  get hasLost(): boolean {
    return this.folder.measure("versions-lost") !== null;
  }

  get aged(): ClockReading | null {
    const [line = ""] = this.#lines("aged", "");
    return z.safeParse(readingSchema, parseJson(line)).data ?? null;
  }

  /** The numbers of the first versions of all segments, in order. */
  get segments(): number[] {
    return this.#numbers("versions");
  }

  /** The lines of all versions. */
  *versionLines(): Generator<string> {
    for (const first of this.segments) yield* this.linesOf(first);
  }

  linesOf(segment: number): string[] {
    return this.#lines(nameOf("versions", segment));
  }

  /** The contents that are wanted, the latest segment first, and nothing where others can have a turn. */
  *contents(isWanted: (sha256: string) => boolean): Generator<HashedContent | void> {
    for (const first of this.#numbers("contents").toReversed()) yield* this.contentsIn(first, isWanted);
  }

  *contentsIn(segment: number, isWanted: (sha256: string) => boolean = () => true): Generator<HashedContent | void> {
    yield* contentsOfSegment(this.#lines(nameOf("contents", segment)), isWanted);
  }

  /** Where there is no room for anything else, contents go. */
  dropContents(): void {
    for (const first of this.#numbers("contents")) this.folder.remove(nameOf("contents", first));
  }

  #numbers(kind: string): number[] {
    const found = this.folder.entries().flatMap(({ name }) => {
      const [, of, first] = namePattern.exec(name) ?? [];
      return of === kind ? [Number(first)] : [];
    });
    return found.toSorted((a, b) => a - b);
  }

  /** The whole lines of a file; none if there is no such file. */
  #lines(name: string, end = "\n"): string[] {
    using file = this.folder.openFile(name, name, "read");
    const bytes = file?.size() ?? 0;
    if (bytes > journalLimits.fileBytesMax) {
      throw new ToolError("STORAGE_UNSAFE", `Cannot use the history: a file of it is ${bytes} bytes`);
    }
    const text = file?.read(0, bytes).toString("utf8") ?? "";
    return end === "" ? [text] : text.split(end).slice(0, -1);
  }

  [Symbol.dispose](): void {
    this.folder[Symbol.dispose]();
  }
}

const nameOf = (kind: string, first: number): string => `${kind}-${String(first).padStart(12, "0")}.jsonl`;

const count = z.int().check(z.nonnegative());
const lineSchema = z.strictObject({
  sha256: sha256Schema,
  text: z.optional(z.string()),
  base64: z.optional(z.string()),
  /** Another content that stands before it in the segment, and how many bytes of its beginning and end are the same. */
  like: z.optional(z.strictObject({ sha256: sha256Schema, head: count, tail: count })),
});

type ContentLine = z.infer<typeof lineSchema>;

/** The content of a line; `null` if it is not what its hash says. `base`: the one that it is told from. */
function decoded({ sha256, text, base64, like }: ContentLine, base: Buffer | undefined): Buffer | null {
  let content = text === undefined ? Buffer.from(base64 ?? "", "base64") : Buffer.from(text);
  if (like !== undefined) {
    if (base === undefined || like.head + like.tail > base.length) return null;
    content = Buffer.concat([base.subarray(0, like.head), content, base.subarray(base.length - like.tail)]);
  }
  return digestOf(content) === sha256 ? content : null;
}

/**
 * Of the contents that others are told from, only these are held: a segment of differences can hold a hundred times its
 * size.
 */
function* contentsOfSegment(
  lines: readonly string[],
  isWanted: (sha256: string) => boolean,
): Generator<HashedContent | void> {
  const used: ContentLine[] = [];
  /** By the hash of a content: the last line that is told from it. */
  const lastUses = new Map<string, ContentLine>();
  for (const text of lines.toReversed()) {
    const sha256 = hashOfLine(text);
    if (!isWanted(sha256) && !lastUses.has(sha256)) continue;
    yield;
    const line = z.safeParse(lineSchema, parseJson(text)).data;
    if (line === undefined) continue;
    used.push(line);
    if (line.like !== undefined && !lastUses.has(line.like.sha256)) lastUses.set(line.like.sha256, line);
  }
  const bases = new Map<string, Buffer>();
  for (const line of used.toReversed()) {
    const { sha256, like } = line;
    const content = decoded(line, bases.get(like?.sha256 ?? ""));
    if (like !== undefined && lastUses.get(like.sha256) === line) {
      bases.delete(like.sha256);
      lastUses.delete(like.sha256);
    }
    if (content !== null && lastUses.has(sha256)) bases.set(sha256, content);
    yield content !== null && isWanted(sha256) ? { sha256, content } : undefined;
  }
}
