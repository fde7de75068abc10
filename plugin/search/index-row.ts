/** An entry in the table of an index file. */
import type { SearchedFile } from "./searched.ts";

export interface IndexRow {
  readonly path: string;
  /** The size of the file when its words were taken. */
  readonly bytes: number;
  /** When the file had been changed last, or one of the marks below. */
  readonly changedUs: number;
  /**
   * Of a file that was written together with the index: no later than then. 0 as long as the index file has not been
   * written again: then its own time says so.
   */
  readonly notAfterUs: number;
  readonly expiresMs: number | null;
  readonly updatedMs: number;
  /** For the ranking (`lengthOf`). 0 if there is nothing to find in the file. */
  readonly length: number;
}

/** The file was written together with the index, so the time of its change was not known. */
export const writtenTogether = 0;

/** The index does not have the file's words. */
export const notIndexed = -1;

/** The same, because there was no room for the words of the file as it was at a time. */
export const withoutRoom = (changedUs: number): number => -changedUs;

/**
 * Whether the words in the index are those of the file. People edit files without telling the index. Then the file has
 * another time of change, or, if a tool wrote it last, one after the index: tools write the index last.
 */
export function isFresh(row: IndexRow, file: SearchedFile, indexChangedUs: number): boolean {
  if (row.bytes !== file.bytes) return false;
  if (row.changedUs !== writtenTogether) return row.changedUs === file.changedUs;
  return file.changedUs <= (row.notAfterUs === 0 ? indexChangedUs : row.notAfterUs);
}

/** Whether the time of the index file says when the row's file was changed at the latest. No listing is needed for that. */
export const hasTimeOfFile = ({ changedUs, notAfterUs }: IndexRow): boolean =>
  changedUs === writtenTogether && notAfterUs === 0;

// The whole table is read and written at each change, so both functions do without spreads and iterators, which take
// the guest's interpreter several times as long.
export function cellsOf({ path, bytes, changedUs, expiresMs, updatedMs, length, notAfterUs }: IndexRow): unknown[] {
  const cells = [path, bytes, changedUs, expiresMs, updatedMs, length];
  if (notAfterUs !== 0) cells.push(notAfterUs);
  return cells;
}

/** Returns `null` for what is not the cells of a row. */
export function rowOf(cells: unknown): IndexRow | null {
  if (!Array.isArray(cells)) return null;
  const path: unknown = cells[0];
  const bytes: unknown = cells[1];
  const changedUs: unknown = cells[2];
  const expiresMs: unknown = cells[3];
  const updatedMs: unknown = cells[4];
  const length: unknown = cells[5];
  const notAfterUs: unknown = cells[6] ?? 0;
  if (typeof path !== "string" || typeof bytes !== "number" || typeof changedUs !== "number") return null;
  if (typeof updatedMs !== "number" || typeof length !== "number" || typeof notAfterUs !== "number") return null;
  const ends = typeof expiresMs === "number" ? expiresMs : null;
  return { path, bytes, changedUs, notAfterUs, expiresMs: ends, updatedMs, length };
}
