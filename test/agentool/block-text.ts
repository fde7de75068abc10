/** A second implementation of a block's form, from its specification and not from the plugin's code. */

/** Rust's `trim` and Unicode's White_Space: with U+0085, without U+FEFF, unlike ECMAScript's. */
export const trimmed = (text: string): string =>
  text.replace(/^\p{White_Space}+/u, "").replace(/\p{White_Space}+$/u, "");

/** How a reader shows a content that forges nothing. */
export function normalised(content: string): string {
  const lines = content.split("\n").map((line) => line.replace(/\r+$/, ""));
  return trimmed(lines.join("\n"));
}

const forging = /^### |^\p{White_Space}*<!-- agentool-memory:/u;
const escapable = /^\\*### |^\\*\p{White_Space}*<!-- agentool-memory:/u;

/** Whether agentool would read anything other than one block. */
export function forges(content: string): boolean {
  return content
    .replace(/\p{White_Space}+$/u, "")
    .split("\n")
    .some((line) => forging.test(line));
}

/** The text that memcell writes for such a content. */
export function escaped(content: string): string {
  const written = content.replace(/\p{White_Space}+$/u, "");
  if (!forges(content)) return written;
  return written
    .split("\n")
    .map((line) => (escapable.test(line) ? `\\${line}` : line))
    .join("\n");
}

/** A time in agentool's form, with the precision of memcell's clock. */
export function writtenTime(epochMs: number): string {
  const text = new Date(epochMs).toISOString();
  return `${epochMs % 1000 === 0 ? text.slice(0, -5) : text.slice(0, -1)}+00:00`;
}

/** A file's text without the times of its blocks. */
export function withoutTimes(text: string): string {
  return text.replaceAll(/^(<!-- agentool-memory: at=)\S+/gm, "$1…");
}

/** A block as both tools write it. */
export function blockOf(key: string, content: string, at: string, tags: readonly string[] = []): string {
  const named = tags.length === 0 ? "" : ` tags=${tags.join("|")}`;
  return `### ${key}\n\n${escaped(content)}\n\n<!-- agentool-memory: at=${at}${named} -->\n\n`;
}
