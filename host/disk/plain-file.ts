import { storeLimits } from "../../shared/limits.ts";
import { quoted } from "../../shared/text.ts";
import { ToolError } from "../values/tool-error.ts";

/** A link is refused with one text, whether it was looked at or the kernel would not open it. */
export const linkInPlace = "a link is in its place";
export const notRegular = "it is not a regular file";

export interface FileFacts {
  isFile(): boolean;
  isSymbolicLink(): boolean;
  readonly nlink: bigint;
  readonly size: bigint;
}

/**
 * Throws `STORAGE_UNSAFE` unless it is just a file: regular, with one name on the disk, and of an ordinary size. A
 * second name may be another user's, and a giant may be sparse.
 */
export function checkPlainFile(facts: FileFacts, shown: string, bytesMax: number = storeLimits.fileBytesMax): void {
  checkRegularFile(facts, shown);
  const refusal = whyUnsafe(facts, bytesMax);
  if (refusal) throw new ToolError("STORAGE_UNSAFE", `Cannot use ${quoted(shown)}: ${refusal}`);
}

/** Whether `checkPlainFile` lets it pass. */
export function isPlainFile(facts: FileFacts): boolean {
  return facts.isFile() && whyUnsafe(facts, storeLimits.fileBytesMax) === null;
}

/** Throws `STORAGE_UNSAFE` for what is no regular file. */
export function checkRegularFile(facts: FileFacts, shown: string): void {
  if (facts.isFile()) return;
  const refusal = facts.isSymbolicLink() ? linkInPlace : notRegular;
  throw new ToolError("STORAGE_UNSAFE", `Cannot use ${quoted(shown)}: ${refusal}`);
}

function whyUnsafe({ nlink, size }: FileFacts, bytesMax: number): string | null {
  if (nlink !== 1n) return `it has ${nlink} names on the disk, only 1 is allowed`;
  if (size > bytesMax) return `it is ${size} bytes, at most ${bytesMax} allowed`;
  return null;
}
