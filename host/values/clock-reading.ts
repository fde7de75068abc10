/**
 * Readings of a clock that can jump. What ends by time is hidden by one reading, and comes back if the clock is put back.
 * It is removed only if two readings agree: one that is on record, and a later one of another process, or of the same
 * process an hour on.
 */
import { randomUUID } from "node:crypto";

import * as z from "../../shared/zod.ts";

export const readingSchema = z.strictObject({
  /** Milliseconds since 1970-01-01 UTC, on the runtime's clock. */
  atMs: z.int(),
  process: z.string(),
  /** Since that process began: no clock that jumps. */
  uptimeMs: z.int(),
});

/** A reading of the clock that is on record. */
export type ClockReading = Readonly<z.infer<typeof readingSchema>>;

const process = randomUUID();
const hourMs = 3_600_000;

export function readingOf(nowMs: number): ClockReading {
  return { atMs: Math.trunc(nowMs), process, uptimeMs: Math.trunc(performance.now()) };
}

export interface Agreement {
  /** What has ended by then, on two readings, can be removed. */
  readonly agreedMs: number;
  /** The reading to have on record from now on. */
  readonly noted: ClockReading;
}

/** `noted`: the reading on record; `null` if there is none. A clock that was put back since has proved it wrong. */
export function agree(noted: ClockReading | null, nowMs: number): Agreement {
  const present = readingOf(nowMs);
  if (noted === null || noted.atMs > nowMs) return { agreedMs: 0, noted: present };
  const isLater = noted.process !== present.process || present.uptimeMs - noted.uptimeMs >= hourMs;
  return isLater ? { agreedMs: noted.atMs, noted: present } : { agreedMs: 0, noted };
}
