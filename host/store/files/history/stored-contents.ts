import { decodeContent, parseContent } from "./content-line.ts";

/** A content among a segment's lines. One that is told from another has it before itself. */
export function contentIn(lines: readonly string[], sha256: string, before: number = lines.length): Buffer | null {
  const at = lines.findLastIndex((line, index) => index < before && isLineOf(line, sha256));
  const found = at < 0 ? null : parseContent(lines[at] ?? "");
  return found && decodeContent(found, (base) => contentIn(lines, base, at));
}

const isLineOf = (line: string, sha256: string): boolean => line.startsWith(`{"sha256":"${sha256}"`);
