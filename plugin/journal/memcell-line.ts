/**
 * The line after a meta line, for facts that agentool's format has no place for: when the block was first written, and
 * whether its content is escaped. agentool ignores it. In any other place it has no meaning.
 */

export interface MemcellLine {
  /** Empty if unknown; `null` if the line does not have it. */
  readonly created: string | null;
  readonly isEscaped: boolean;
}

export const memcellMark = "<!-- memcell:";

const form = /^<!-- memcell:(?: created=([\w:.+-]*))?( escaped)? -->\r*\n?$/;

/** memcell writes no longer line. */
const lineCharsMax = 1_000;

/** Returns `null` if there is nothing to write. */
export function formatMemcellLine({ created, isEscaped }: MemcellLine): string | null {
  if (created === null && !isEscaped) return null;
  return `${memcellMark}${created === null ? "" : ` created=${created}`}${isEscaped ? " escaped" : ""} -->`;
}

/** Returns `null` for any other line. The line can include its line end. */
export function parseMemcellLine(line: string): MemcellLine | null {
  if (!line.startsWith(memcellMark) || line.length > lineCharsMax) return null;
  const [, created, escaped] = form.exec(line) ?? [];
  if (created === undefined && escaped === undefined) return null;
  return { created: created ?? null, isEscaped: escaped !== undefined };
}
