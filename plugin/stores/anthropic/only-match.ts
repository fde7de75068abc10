/** Finds the one place in a text that `str_replace` changes. */
import { ToolError } from "../../kit/tool-error.ts";

/** Where the piece is. Matches can be over several lines, and several can be in one line. */
export function onlyMatch(content: string, piece: string, shown: string): number {
  if (piece === "") throw new ToolError("INPUT_INVALID", "old_str is empty, allowed: text that is in the file");
  const parts = content.split(piece);
  if (parts.length === 2) return parts[0]?.length ?? 0;
  const named = `old_str \`${shownPiece(piece)}\``;
  if (parts.length === 1) {
    const message = `No replacement was performed, ${named} did not appear verbatim in ${shown}.`;
    throw new ToolError("MATCH_NOT_FOUND", message);
  }
  const lines = `in lines: ${listed(matchLines(parts, piece))}. Please ensure it is unique`;
  throw new ToolError("MATCH_NOT_UNIQUE", `No replacement was performed. Multiple occurrences of ${named} ${lines}`);
}

const pieceCharsMax = 2_000;

/** Only the beginning of a long piece, because an error has less room than an input. */
const shownPiece = (piece: string): string =>
  piece.length <= pieceCharsMax ? piece : `${piece.slice(0, pieceCharsMax).toWellFormed()}…`;

/** The numbers of the lines in which matches begin. `parts` are between them. */
function matchLines(parts: readonly string[], piece: string): number[] {
  const lineEnds = linesBefore(piece, piece.length);
  let line = 1;
  const lines = parts.slice(0, -1).map((part, at) => {
    line += linesBefore(part, part.length) + (at === 0 ? 0 : lineEnds);
    return line;
  });
  return [...new Set(lines)];
}

const linesListedMax = 100;

function listed(lines: readonly number[]): string {
  const first = lines.slice(0, linesListedMax).join(", ");
  return lines.length <= linesListedMax ? first : `${first} and ${lines.length - linesListedMax} more`;
}

/** How many lines end before a place in a text. */
export const linesBefore = (text: string, at: number): number => text.slice(0, at).split("\n").length - 1;
