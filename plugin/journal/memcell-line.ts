/**
 * The line behind a meta line for what agentool's form has no place for: when the block was first written, and that its
 * content is escaped. agentool passes over it; anywhere else it means nothing.
 */

export interface MemcellLine {
  /** Empty when it is not known; `null` when the line does not say it. */
  readonly created: string | null;
  readonly isEscaped: boolean;
}

export const memcellMark = "<!-- memcell:";

const form = /^<!-- memcell:(?: created=([\w:.+-]*))?( escaped)? -->\r*\n?$/;

/** A longer line is none of memcell's. */
const lineCharsMax = 1_000;

/** `null` when there is nothing to say. */
export function formatMemcellLine({ created, isEscaped }: MemcellLine): string | null {
  if (created === null && !isEscaped) return null;
  return `${memcellMark}${created === null ? "" : ` created=${created}`}${isEscaped ? " escaped" : ""} -->`;
}

/** `null` for any other line. The line may come with its end. */
export function parseMemcellLine(line: string): MemcellLine | null {
  if (!line.startsWith(memcellMark) || line.length > lineCharsMax) return null;
  const [, created, escaped] = form.exec(line) ?? [];
  if (created === undefined && escaped === undefined) return null;
  return { created: created ?? null, isEscaped: escaped !== undefined };
}
