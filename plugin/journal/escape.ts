/**
 * Escapes content that looks like a block's own lines. In agentool's format, a line of the content that begins with
 * `### ` begins a block, and a line that begins with a meta line's mark ends one, so content could forge both. Such
 * lines are written with a backslash in front, and the block is marked as escaped. Only marked blocks are unescaped.
 */
import { metaMark } from "./meta-line.ts";
import { whiteSpace } from "./white-space.ts";

const forges = new RegExp(`^(?:### |[${whiteSpace}]*${metaMark})`);
/** A forging line after any number of backslashes. */
const looksForging = new RegExp(`^\\\\*(?:### |[${whiteSpace}]*${metaMark})`);

export interface EscapedContent {
  readonly text: string;
  readonly isEscaped: boolean;
}

/**
 * Escapes only content that has a forging line. Then each line that looks like one gets one more backslash, so that
 * unescaping restores every line.
 */
export function escapeContent(content: string): EscapedContent {
  if (!mayForge(content)) return { text: content, isEscaped: false };
  const lines = content.split("\n");
  if (!lines.some((line) => forges.test(line))) return { text: content, isEscaped: false };
  return { text: lines.map((line) => (looksForging.test(line) ? `\\${line}` : line)).join("\n"), isEscaped: true };
}

/** Reverses `escapeContent`. */
export function unescapeContent(text: string): string {
  if (!mayForge(text)) return text;
  return text
    .split("\n")
    .map((line) => (line.startsWith("\\") && looksForging.test(line) ? line.slice(1) : line))
    .join("\n");
}

function mayForge(text: string): boolean {
  return text.includes("### ") || text.includes(metaMark);
}
