import type { PointInTime } from "./at-time.ts";
import { metaMark } from "./meta-line.ts";

const twoDaysSeconds = 2 * 24 * 60 * 60;

/**
 * Whether every block of a text is certainly older than a time, without parsing the blocks. Only the dates are
 * compared; an offset moves a date by less than a day. Blocks without a valid time count as 1970.
 */
export function isSurelyOlder(text: string, { seconds }: PointInTime): boolean {
  const boundSeconds = seconds - twoDaysSeconds;
  if (boundSeconds <= 0) return false;
  const bound = ` at=${new Date(boundSeconds * 1000).toISOString().slice(0, "2026-01-02".length)}`;
  const [, ...metas] = text.split(metaMark);
  return metas.every((meta) => meta > " at=0" && meta < bound);
}
