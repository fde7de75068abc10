import type { Pieces } from "../../values/turns.ts";
import { headAfter, parseLine } from "./version-line.ts";
import { noVersion } from "./version.ts";
import type { VersionHead } from "./version.ts";

/** What is wrong in a history, or else its last version; `null` if there is none and older ones were dropped. */
type Chain = { readonly fault: string } | { readonly fault: null; readonly last: VersionHead | null };

/** Compares each line with the one before. `first`: the oldest version; what was dropped before it is not compared. */
export function* followChain(lines: Iterable<string>, first: number): Pieces<Chain> {
  let last: VersionHead | null = first === 1 ? noVersion : null;
  for (const line of lines) {
    yield;
    const next: number = (last?.seq ?? first - 1) + 1;
    const version = parseLine(line);
    if (version === null) return { fault: `version ${next} is no version` };
    if (version.seq !== next) return { fault: `version ${next} is missing` };
    if (last !== null && version.prev !== last.hash) return { fault: `version ${next - 1} or ${next} was changed` };
    last = headAfter(version, line);
  }
  return { fault: null, last };
}

/** What is wrong with a history that ends with `head`, or `null`. What was dropped before its first version is not missed. */
export function* faultInHistory(lines: readonly string[], head: VersionHead): Pieces<string | null> {
  const chain = yield* followChain(lines, parseLine(lines[0] ?? "")?.seq ?? 1);
  if (chain.fault !== null) return chain.fault;
  const { seq, hash } = chain.last ?? noVersion;
  return seq === head.seq && hash === head.hash ? null : `version ${head.seq} is not the recorded one`;
}
