/**
 * Content that looks like a block's own lines. In agentool's format a line of the content that begins with `### ` begins
 * a block, and one that begins with the mark of a meta line ends one: content could forge both. Such lines are written
 * with a backslash in front, and the block is marked; without the mark nothing is taken away.
 */
import { metaMark } from "./meta-line.ts";
import { whiteSpace } from "./white-space.ts";

const forges = new RegExp(`^(?:### |[${whiteSpace}]*${metaMark})`);
/** A line that forges, behind any number of backslashes. */
const looksForging = new RegExp(`^\\\\*(?:### |[${whiteSpace}]*${metaMark})`);

export interface EscapedContent {
  readonly text: string;
  readonly isEscaped: boolean;
}

/** Escapes only what holds a line that forges. Then each line that looks so gets a backslash more, to be told apart. */
export function escapeContent(content: string): EscapedContent {
  if (!mayForge(content)) return { text: content, isEscaped: false };
  const lines = content.split("\n");
  if (!lines.some((line) => forges.test(line))) return { text: content, isEscaped: false };
  return { text: lines.map((line) => (looksForging.test(line) ? `\\${line}` : line)).join("\n"), isEscaped: true };
}

/** The content that `escapeContent` was given. */
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
