import { codePoints } from "../../shared/text.ts";
import { isSeenLine } from "../kit/one-line.ts";
import { journalLimits } from "./journal-limits.ts";

/** Whether a tool can write the key as a heading. Keys that people wrote can be longer and have any characters. */
export function isFitKey(key: string): boolean {
  return isSeenLine(key) && codePoints(key) <= journalLimits.keyCharsMax;
}
