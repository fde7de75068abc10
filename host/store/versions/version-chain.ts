import { headAfter, parseLine } from "./version-line.ts";
import { noVersion } from "./version.ts";
import type { VersionHead } from "./version.ts";

/** Compares each line of a history with the one before. */
export class VersionChain {
  readonly #first: number;
  #last: VersionHead | null;

  /** `first`: the oldest version there is. What was dropped before it is not compared. */
  constructor(first: number) {
    this.#first = first;
    this.#last = first === 1 ? noVersion : null;
  }

  /** The last version so far; `null` if there was none and older ones were dropped. */
  get last(): VersionHead | null {
    return this.#last;
  }

  /** Returns what is wrong with the next line, or `null`. */
  faultIn(line: string): string | null {
    const next = (this.#last?.seq ?? this.#first - 1) + 1;
    const version = parseLine(line);
    if (version === null) return `version ${next} is no version`;
    if (version.seq !== next) return `version ${next} is missing`;
    if (this.#last !== null && version.prev !== this.#last.hash) return `version ${next - 1} or ${next} was changed`;
    this.#last = headAfter(version, line);
    return null;
  }
}

/** What is wrong with a history that ends with `head`, or `null`. What was dropped before its first version is not missed. */
export function faultInHistory(lines: readonly string[], head: VersionHead): string | null {
  const chain = new VersionChain((lines[0] !== undefined && parseLine(lines[0])?.seq) || 1);
  for (const line of lines) {
    const fault = chain.faultIn(line);
    if (fault !== null) return fault;
  }
  const { seq, hash } = chain.last ?? noVersion;
  return seq === head.seq && hash === head.hash ? null : `version ${head.seq} is not the recorded one`;
}
