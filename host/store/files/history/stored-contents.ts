import { decodeContent, parseContent } from "./content-line.ts";

/** A content among a segment's lines. One that is told from another has it before itself. */
export function contentIn(lines: readonly string[], sha256: string, before: number = lines.length): Buffer | null {
  const at = lines.findLastIndex((line, index) => index < before && isLineOf(line, sha256));
  const found = at < 0 ? null : parseContent(lines[at] ?? "");
  return found && decodeContent(found, (base) => contentIn(lines, base, at));
}

const head = '{"sha256":"';

/** The hash of a line that a host has written; of another one, anything. */
export const hashOfLine = (line: string): string => line.slice(head.length, head.length + 64);

const isLineOf = (line: string, sha256: string): boolean => line.startsWith(`${head}${sha256}"`);
