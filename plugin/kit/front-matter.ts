/**
 * Reads and writes front matter.
 *
 * Only a plain `---` opens front matter, and no other language than YAML is read. (The guest has no `eval` either.)
 */
import { frontMatterLimits, whyTooLarge } from "./front-matter-bounds.ts";
import { oneLine } from "./one-line.ts";
import { ToolError } from "./tool-error.ts";
import { readYaml, writeYaml } from "./yaml.deferred.ts";

/** A file's front matter and body. */
export interface FrontMatter {
  /** The text between the fences. */
  readonly text: string;
  readonly fields: ReadonlyMap<string, unknown>;
  readonly body: string;
}

const opening = /^\uFEFF?---[ \t]*(?:\r?\n|\r)/;
const closing = /(^|\n)---[ \t]*\r?(?:\n|$)/;
/** Only of a file whose first line ends with a carriage return alone. */
const closingBehindReturn = /(^|\r)---[ \t]*(?:\r|$)/;

/** Whether a file begins with the fence of front matter, or with that of another language, such as `---js`. */
export function opensFrontMatter(file: string): boolean {
  const [first = ""] = file.slice(0, firstLineCharsMax).split(/\r?\n|\r/, 1);
  return /^\uFEFF?---[ \t]*\w*\s*$/.test(first);
}

/** A longer line is a sentence. */
const firstLineCharsMax = 64;

/**
 * Splits a file. If it has no front matter that is a YAML mapping, returns the reason as a clause about the file, with
 * the line where that is known.
 */
export function readFrontMatter(file: string): FrontMatter | { readonly unreadable: string } {
  const fenced = fencedText(file);
  if (fenced === null) return { unreadable: whyNotFenced(file) };
  const fields = readFields(fenced.text);
  return "wrong" in fields ? { unreadable: `its front matter ${fields.wrong}` } : { ...fenced, fields: fields.found };
}

/** As `readFrontMatter`, but returns `null` without a reason. */
export function splitFrontMatter(file: string): FrontMatter | null {
  const front = readFrontMatter(file);
  return "unreadable" in front ? null : front;
}

/** The text behind front matter that is closed, whether or not it can be read; the whole text if there is none. */
export function textBehindFrontMatter(file: string): string {
  return fencedText(file)?.body ?? file;
}

function whyNotFenced(file: string): string {
  if (!opensFrontMatter(file)) return 'it does not begin with YAML front matter between "---" lines';
  if (openingOf(file) === null) return `its front matter ${wrongIn(1, 'only "---" alone begins it')}`;
  const isLong = file.length > frontMatterLimits.charsMax;
  const within = isLong ? ` within ${frontMatterLimits.charsMax} characters` : "";
  return `its front matter ${wrongIn(1, `no "---" line closes it${within}`)}`;
}

/** The guest's engine would look for the beginning in the whole file. */
const openingOf = (file: string): string | null =>
  /^\uFEFF?---/.test(file.slice(0, 4)) ? (opening.exec(file)?.[0] ?? null) : null;

/** The text between the fences and the text behind them; `null` if there is no front matter, or nothing closes it. */
export function fencedText(file: string): Pick<FrontMatter, "text" | "body"> | null {
  const open = openingOf(file);
  if (open === null) return null;
  const rest = file.slice(open.length);
  const hasReturns = open.endsWith("\r");
  const close = closingIn(rest, hasReturns ? closingBehindReturn : closing);
  if (!close) return null;
  const between = rest.slice(0, close.index) + (close[1] ?? "");
  const text = hasReturns ? between.replaceAll("\r", "\n") : between;
  // The line break that ends the closing fence belongs to the fence, every byte after it to the body.
  return { text, body: rest.slice(close.index + close[0].length) };
}

/** Looks only where front matter that is within the bounds can end: a file can have 2 MiB. */
function closingIn(rest: string, fence: RegExp): RegExpExecArray | null {
  const start = rest.slice(0, frontMatterLimits.charsMax + closingCharsMax);
  const close = fence.exec(start);
  const isCut = start.length < rest.length && close !== null && !/[\r\n]$/.test(close[0]);
  return isCut ? null : close;
}

const closingCharsMax = 64;

/**
 * Returns the fields of a front matter text in file order, or `null` if it is not a YAML mapping, or is too large for
 * the library.
 */
export function parseFields(text: string): ReadonlyMap<string, unknown> | null {
  const fields = readFields(text);
  return "wrong" in fields ? null : fields.found;
}

/** `wrong`: the reason, as a clause about the front matter. Lines are counted in the file. */
function readFields(text: string): { readonly found: ReadonlyMap<string, unknown> } | { readonly wrong: string } {
  const tooLarge = whyTooLarge(text);
  if (tooLarge !== null) return { wrong: tooLarge };
  // gray-matter would read any line that begins like this as the closing fence and drop the text after it.
  const dashed = /^---/m.exec(text);
  if (dashed)
    return { wrong: wrongIn(lineAt(text, dashed.index), 'it begins with "---" and does not end the front matter') };
  // The library would name no line.
  const nul = text.indexOf("\0");
  if (nul !== -1) return { wrong: wrongIn(lineAt(text, nul), "it has a NUL byte") };
  try {
    const data = readYaml(text);
    if (typeof data === "object" && data !== null && !Array.isArray(data))
      return { found: new Map(Object.entries(data)) };
    return { wrong: wrongIn(lineAt(text, text.search(/\S/)), 'it is not a list of lines "key: value"') };
  } catch (error) {
    return { wrong: whyNoYaml(error, text) };
  }
}

/** A clause about the front matter. */
const wrongIn = (line: number, reason: string): string => `is wrong in line ${line}: ${reason}`;

/** The line in the file of a place in the front matter's text, which begins in line 2. */
const lineAt = (text: string, at: number): number => text.slice(0, at).split("\n").length + 1;

/** Says also in which line of the file, for the person who wrote it: why the YAML library does not read the text, as a clause about the front matter. */
function whyNoYaml(error: unknown, text: string): string {
  const { reason, mark } = error as { readonly reason?: unknown; readonly mark?: { readonly line?: unknown } };
  if (typeof reason !== "string") return "cannot be read as YAML";
  const lines = text.replace(/\n$/, "").split("\n");
  const line = typeof mark?.line === "number" ? mark.line : lines.findIndex((each) => each.startsWith("...")) + 1;
  // The library counts from the opening fence, and from 0; it finds some faults only behind the last line.
  const inFile = Math.max(2, Math.min(line, lines.length) + 1);
  return wrongIn(inFile, oneLine(reason, reasonCharsMax, "it is not YAML") + hintFor(lines[inFile - 2] ?? ""));
}

/** A reason can quote what is in the file. */
const reasonCharsMax = 200;

/** What people get wrong most: in `description: Fix: the build`, the value needs quotation marks. */
function hintFor(line: string): string {
  if (line.length > hintedCharsMax) return "";
  if (/: *(["'])(?!.*\1\s*$)/.test(line)) return " (a quotation mark is not closed)";
  return line.split(": ", 3).length > 2 ? ' (a value with ": " in it needs quotation marks)' : "";
}

/** The patterns above take a time that grows with the square of the length. */
const hintedCharsMax = 200;

export function formatFields(fields: Iterable<readonly [string, unknown]>): string {
  return writeYaml(Object.fromEntries(fields));
}

/** Throws `QUOTA_EXCEEDED` if nothing could read the front matter again. */
export function joinFrontMatter(text: string, body: string): string {
  const why = whyTooLarge(text);
  if (why !== null) throw new ToolError("QUOTA_EXCEEDED", `Cannot write the file: its front matter ${why}`);
  return `---\n${text}---\n${body}`;
}
