/**
 * The id of a write that waits: `w-<time>-<run>-<random>`. It has what is asked of all of them at once, so that they need
 * not be read: when they began to wait, and of which run they are.
 */
import { createHash, randomBytes } from "node:crypto";

const pattern = /^w-([0-9a-z]{9})-([0-9a-f]{12})-[0-9a-f]{12}$/;

export interface PendingName {
  readonly id: string;
  readonly atMs: number;
  /** A hash of the run's id. */
  readonly run: string;
}

export function newPendingId(atMs: number, run: string | null): string {
  const time = Math.max(0, atMs).toString(36).padStart(9, "0").slice(-9);
  return `w-${time}-${hashOfRun(run)}-${randomBytes(6).toString("hex")}`;
}

/** `null` if the text is no such id. */
export function pendingName(id: string): PendingName | null {
  const [, time, run] = pattern.exec(id) ?? [];
  return time === undefined || run === undefined ? null : { id, atMs: Number.parseInt(time, 36), run };
}

/** Calls that name no run are one run. */
export const hashOfRun = (run: string | null): string =>
  createHash("sha256")
    .update(run === null ? "none" : `run ${run}`)
    .digest("hex")
    .slice(0, 12);
