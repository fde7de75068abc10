/** A block of a journal's file, as it is written: a heading with the key, the content, a line of meta. */
import { escapeContent } from "./escape.ts";
import { formatMemcellLine } from "./memcell-line.ts";
import { formatMeta, metaMark } from "./meta-line.ts";
import { trim, trimEnd } from "./white-space.ts";

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
 * A file with a block more, at its end. The line that only memcell reads stays behind when agentool takes out its block:
 * it must not come to stand directly behind another block's line of meta, which it would then count for.
 */
export function appendBlock(file: string, block: NewBlock): string {
  const text = formatBlock(block);
  const lineEnd = file === "" || file.endsWith("\n") ? "" : "\n";
  const emptyLine = endsInMeta(file) && !endsInMeta(text.slice(0, -1)) ? "\n" : "";
  return `${file}${lineEnd}${emptyLine}${text}`;
}

/** Whether a line of meta is the last of a text. */
export function endsInMeta(text: string): boolean {
  const end = text.endsWith("\n") ? text.length - 1 : text.length;
  return trim(text.slice(text.lastIndexOf("\n", end - 1) + 1, end)).startsWith(metaMark);
}
