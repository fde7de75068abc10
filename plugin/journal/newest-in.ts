import type { PointInTime } from "./at-time.ts";
import { metaMark } from "./meta-line.ts";

const twoDaysSeconds = 2 * 24 * 60 * 60;

/**
 * Whether every block of a text is older than a time, as far as a look at its times shows that without reading them. A
 * time is taken for its date, which its offset moves by less than a day; what is no time counts as 1970.
 */
export function isSurelyOlder(text: string, { seconds }: PointInTime): boolean {
  const boundSeconds = seconds - twoDaysSeconds;
  if (boundSeconds <= 0) return false;
  const bound = ` at=${new Date(boundSeconds * 1000).toISOString().slice(0, "2026-01-02".length)}`;
  const [, ...metas] = text.split(metaMark);
  return metas.every((meta) => meta > " at=0" && meta < bound);
}
