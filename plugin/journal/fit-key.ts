import { codePoints, hasLoneSurrogate } from "../../shared/text.ts";
import { journalLimits } from "./journal-limits.ts";

/** Whether a key can be written as a heading's line. Those that people wrote may be longer, or hold anything. */
export function isFitKey(key: string): boolean {
  if (/[\p{Cc}\u2028\u2029]/u.test(key) || hasLoneSurrogate(key)) return false;
  return codePoints(key) <= journalLimits.keyCharsMax;
}
