/** An entry in the table of an index file. */
import type { SearchedFile } from "./searched.ts";

export interface IndexRow {
  readonly path: string;
  /** The size of the file when its words were taken. */
  readonly bytes: number;
  /** When the file had been changed last, or one of the marks below. */
  readonly changedUs: number;
  readonly expiresMs: number | null;
  readonly updatedMs: number;
  /** For the ranking (`lengthOf`). 0 if there is nothing to find in the file. */
  readonly length: number;
}

/** The file was written together with the index, so the time of its change was not known yet. */
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
  return row.changedUs === writtenTogether ? file.changedUs <= indexChangedUs : row.changedUs === file.changedUs;
}

export function cellsOf({ path, bytes, changedUs, expiresMs, updatedMs, length }: IndexRow): unknown[] {
  return [path, bytes, changedUs, expiresMs, updatedMs, length];
}

/** Returns `null` for what is not the cells of a row. */
export function rowOf(cells: unknown): IndexRow | null {
  if (!Array.isArray(cells)) return null;
  const [path, bytes, changedUs, expiresMs, updatedMs, length] = cells as unknown[];
  if (typeof path !== "string" || typeof bytes !== "number" || typeof changedUs !== "number") return null;
  if (typeof updatedMs !== "number" || typeof length !== "number") return null;
  return { path, bytes, changedUs, expiresMs: typeof expiresMs === "number" ? expiresMs : null, updatedMs, length };
}
