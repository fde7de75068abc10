/**
 * Reads and writes front matter.
 *
 * Only a plain `---` opens front matter; `---js` and the like are ignored. (The guest has no `eval` either.)
 */
import { whyTooLarge } from "./front-matter-bounds.ts";
import { ToolError } from "./tool-error.ts";
import { readYaml, writeYaml } from "./yaml.deferred.ts";

/** A file's front matter and body. */
export interface FrontMatter {
  /** The text between the fences. */
  readonly text: string;
  readonly fields: ReadonlyMap<string, unknown>;
  readonly body: string;
}

const opening = /^\uFEFF?---[ \t]*\r?\n/;
const closing = /(^|\n)---[ \t]*\r?(?:\n|$)/;

/** Splits a file. Returns `null` if it has no front matter that is a YAML mapping, or if that is too large. */
export function splitFrontMatter(file: string): FrontMatter | null {
  const found = fencedText(file);
  const fields = found && parseFields(found.text);
  return fields && { ...found, fields };
}

/** Why `splitFrontMatter` returns `null`, as a clause about the file. */
export function whyNoFrontMatter(file: string): string {
  const why = whyTooLarge(fencedText(file)?.text ?? "");
  return why === null ? 'it does not begin with YAML front matter between "---" lines' : `its front matter ${why}`;
}

function fencedText(file: string): Pick<FrontMatter, "text" | "body"> | null {
  // The guest's engine would look for the beginning in the whole file.
  const open = /^\uFEFF?---/.test(file.slice(0, 4)) ? opening.exec(file) : null;
  if (!open) return null;
  const rest = file.slice(open[0].length);
  const close = closing.exec(rest);
  if (!close) return null;
  const text = rest.slice(0, close.index) + (close[1] ?? "");
  // The line break that ends the closing fence belongs to the fence, every byte after it to the body.
  return { text, body: rest.slice(close.index + close[0].length) };
}

/**
 * Returns the fields of a front matter text in file order, or `null` if it is not a YAML mapping, or is too large for
 * the library.
 */
export function parseFields(text: string): ReadonlyMap<string, unknown> | null {
  if (whyTooLarge(text) !== null) return null;
  // gray-matter would read any line that begins like this as the closing fence and drop the text after it.
  if (/^---/m.test(text)) return null;
  try {
    const data = readYaml(text);
    if (typeof data !== "object" || data === null || Array.isArray(data)) return null;
    return new Map(Object.entries(data));
  } catch {
    return null;
  }
}

export function formatFields(fields: Iterable<readonly [string, unknown]>): string {
  return writeYaml(Object.fromEntries(fields));
}

/** Throws `QUOTA_EXCEEDED` if nothing could read the front matter again. */
export function joinFrontMatter(text: string, body: string): string {
  const why = whyTooLarge(text);
  if (why !== null) throw new ToolError("QUOTA_EXCEEDED", `Cannot write the file: its front matter ${why}`);
  return `---\n${text}---\n${body}`;
}
