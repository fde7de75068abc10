/** A block of a journal's file, as it is written: a heading with the key, the content, a line of meta. */
import { escapeContent } from "./escape.ts";
import { formatMemcellLine } from "./memcell-line.ts";
import { endsInMeta, formatMeta } from "./meta-line.ts";
import { trimEnd } from "./white-space.ts";

export interface NewBlock {
  readonly key: string;
  readonly content: string;
  readonly tags: string[];
  /** When it is written. */
  readonly at: string;
  /** When it was first written, of a block that replaces one; empty when nobody knows. `null` of a first one. */
  readonly created: string | null;
}

/** The bytes are agentool's, but for the line that only memcell reads, in a block that was escaped or updated. */
export function formatBlock({ key, content, tags, at, created }: NewBlock): string {
  const { text, isEscaped } = escapeContent(trimEnd(content));
  const memcellLine = formatMemcellLine({ created, isEscaped });
  const lines = [`### ${key}`, "", text, "", formatMeta({ at, tags }), ...(memcellLine === null ? [] : [memcellLine])];
  return `${lines.join("\n")}\n\n`;
}

/**
 * A file with a block more, at its end. When agentool replaces a block, memcell's line of it stays behind: it must not
 * come to stand right behind another block's meta, whose time and content it would change.
 */
export function appendBlock(file: string, block: NewBlock): string {
  const text = formatBlock(block);
  const lineEnd = file === "" || file.endsWith("\n") ? "" : "\n";
  const hasMemcellLine = !text.endsWith(`${formatMeta(block)}\n\n`);
  return `${file}${lineEnd}${hasMemcellLine && endsInMeta(file) ? "\n" : ""}${text}`;
}
