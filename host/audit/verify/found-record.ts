/** A record where it was found. */
export interface FoundRecord {
  readonly seq: number;
  readonly prev: string;
  readonly hash: string;
  /** The file's name, without its folder. */
  readonly file: string;
  /** From 1. */
  readonly line: number;
  /** How many records before it were missing when it was written, as it says itself. */
  readonly missing: number;
}

/** Whether a record was written behind another one, as that one is now. */
export function isNext(before: FoundRecord, record: FoundRecord): boolean {
  return record.seq === before.seq + 1 && record.prev === before.hash;
}
