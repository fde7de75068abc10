/** Cuts a text that is too large for one entry into parts that together are the text, byte for byte. */
import { exceedsUtf8Bytes, utf8Bytes } from "../../shared/text.ts";
import { entryLimits } from "../user-memory/entry-limits.ts";

const { bodyBytesMax } = entryLimits;

export function bodyParts(text: string): string[] {
  const parts: string[] = [];
  let at = 0;
  while (exceedsUtf8Bytes(text.slice(at), bodyBytesMax)) {
    const chars = partCharsOf(text, at);
    parts.push(text.slice(at, at + chars));
    at += chars;
  }
  return [...parts, text.slice(at)];
}

/** The length of the largest part from here on that ends with a line, or else between two characters. */
export function partCharsOf(text: string, at: number): number {
  let part = text.slice(at, at + bodyBytesMax);
  const over = utf8Bytes(part) - bodyBytesMax;
  // A character has one byte or more, and a unit of it at most three.
  if (over > 0) part = part.slice(0, Math.max(part.length - over, Math.floor(bodyBytesMax / 3)));
  const end = part.lastIndexOf("\n") + 1;
  if (end > part.length / 2) return end;
  return /[\ud800-\udbff]$/.test(part) ? part.length - 1 : part.length;
}
