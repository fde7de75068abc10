import { codePoints, hasLoneSurrogate } from "../../shared/text.ts";
import { journalLimits } from "./journal-limits.ts";

/** Whether a tool can write the key as a heading. Keys that people wrote can be longer and have any characters. */
export function isFitKey(key: string): boolean {
  if (/[\p{Cc}\u2028\u2029]/u.test(key) || hasLoneSurrogate(key)) return false;
  return codePoints(key) <= journalLimits.keyCharsMax;
}
