/**
 * What can be read of a file that is not UTF-8 text, or has NUL bytes. U+FFFD stands for bytes that cannot be read. One
 * wrong byte takes its own line, and nothing else.
 */
/** A line that cannot be trusted to say what its writer meant. */
export const damaged = /[\ufffd\0]/;

export interface FoundText {
  readonly text: string;
  /** Why not all of it can be read, as a clause about "it", with the line. */
  readonly damage: string | null;
}

/** Why a file is not UTF-8 text. `readable`: what can be read of it; `null` if the host does not tell. */
export function whyNoUtf8(readable: string | null): string {
  if (readable === null || readable.trim() === "") return "it is not UTF-8 text";
  const lines = damagedLines(readable);
  return lines === "" ? "it is UTF-16 text, not UTF-8" : `it is not UTF-8 text: wrong bytes in ${lines}`;
}

/** "line 3", or "lines 3, 4 and 17 more"; empty if there are none. */
export function damagedLines(text: string): string {
  const numbers = text.split(lineEnd).flatMap((line, at) => (damaged.test(line) ? [at + 1] : []));
  const [first, ...others] = numbers;
  if (first === undefined) return "";
  if (others.length === 0) return `line ${first}`;
  const more = numbers.length - namedMax;
  return `lines ${numbers.slice(0, namedMax).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}

const namedMax = 3;

/** The lines without such characters, and `keep` of the others. */
export function withoutDamage(text: string, keep: (line: string) => string | null = () => null): string {
  return text
    .split(/(?<=\n|\r(?!\n))/)
    .map((line) => (damaged.test(line) ? (keep(line) ?? "") : line))
    .join("");
}

const lineEnd = /\r\n|\n|\r/;
