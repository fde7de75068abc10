/**
 * The id of a write that waits: `w-<time>-<run>-<digest>`. It has what is asked of all of them at once, so that they need
 * not be read: when they began to wait, and of which run they are. And it has a digest of the record, so that whoever
 * approves an id approves what was shown under it, also if somebody changes the record on the disk meanwhile.
 */
import { createHash } from "node:crypto";

const pattern = /^w-([0-9a-z]{9})-([0-9a-f]{12})-[0-9a-f]{32}$/;

export interface PendingName {
  readonly id: string;
  readonly atMs: number;
  /** A hash of the run's id. */
  readonly run: string;
}

/** `facts`: the record without its id, in the order of its fields. */
export function pendingIdOf(facts: { readonly atMs: number; readonly run: string | null }): string {
  const time = Math.max(0, facts.atMs).toString(36).padStart(9, "0").slice(-9);
  return `w-${time}-${hashOfRun(facts.run)}-${hexOf(JSON.stringify(facts), 32)}`;
}

/** `null` if the text is no such id. */
export function pendingName(id: string): PendingName | null {
  const [, time, run] = pattern.exec(id) ?? [];
  return time === undefined || run === undefined ? null : { id, atMs: Number.parseInt(time, 36), run };
}

/** Calls that name no run are one run. */
export const hashOfRun = (run: string | null): string => hexOf(run === null ? "none" : `run ${run}`, 12);

const hexOf = (text: string, digits: number): string =>
  createHash("sha256").update(text).digest("hex").slice(0, digits);
