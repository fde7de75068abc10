/** Formats a block of a journal's file: a heading with the key, the content, and a meta line. */
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
  /** When the replaced block was first written; empty if unknown. `null` for a block that replaces none. */
  readonly created: string | null;
}

/** The bytes are agentool's. A block that was escaped or updated also has a line that only memcell reads. */
export function formatBlock({ key, content, tags, at, created }: NewBlock): string {
  const { text, isEscaped } = escapeContent(trimEnd(content));
  const memcellLine = formatMemcellLine({ created, isEscaped });
  const lines = [`### ${key}`, "", text, "", formatMeta({ at, tags }), ...(memcellLine === null ? [] : [memcellLine])];
  return `${lines.join("\n")}\n\n`;
}

/**
 * Appends a block to a file. When agentool removes a block, it leaves the line that only memcell reads. Such a line
 * must not directly follow another block's meta line, because it would then belong to that block.
 */
export function appendBlock(file: string, block: NewBlock): string {
  const text = formatBlock(block);
  const lineEnd = file === "" || file.endsWith("\n") ? "" : "\n";
  const emptyLine = endsInMeta(file) && !endsInMeta(text.slice(0, -1)) ? "\n" : "";
  return `${file}${lineEnd}${emptyLine}${text}`;
}

/** Whether a text's last line is a meta line. */
export function endsInMeta(text: string): boolean {
  const end = text.endsWith("\n") ? text.length - 1 : text.length;
  return trim(text.slice(text.lastIndexOf("\n", end - 1) + 1, end)).startsWith(metaMark);
}
