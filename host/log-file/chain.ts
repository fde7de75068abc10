/**
 * A chain of records: each has its number and the hash of the line before it. A chain is whole if no number is missing
 * and every record has the right hash. Then no record was removed, changed, added or moved, except at the end.
 */
import { hash } from "node:crypto";

import type { Pieces } from "../values/turns.ts";

/** The place of a record in its chain. */
export interface ChainHead {
  readonly seq: number;
  /** SHA-256 of the record's line, in hex. */
  readonly hash: string;
}

/** A record that was read. */
export interface Link<Where> extends ChainHead {
  /** The hash of the record before it. */
  readonly prev: string;
  /** Whatever the reader of the chain wants to know again. */
  readonly where: Where;
}

/** A line that is no record, or a record that its reader refuses, and a sentence that says why. */
export interface NoLink<Where> {
  readonly reason: string;
  readonly seq: number | null;
  readonly where: Where;
}

/** The first broken link of a chain, and what it means. */
export interface BrokenLink<Where> {
  /** Missing are those before it, changed is it or the next one, and misplaced is also what was repeated or added. */
  readonly kind: "missing" | "changed" | "misplaced" | "unfit";
  /** The number of the record; `null` for a line that is none. */
  readonly seq: number | null;
  readonly where: Where;
  /** A sentence, with nothing of a record's content. */
  readonly text: string;
}

/** How a chain begins. */
export interface ChainStart {
  /** The number of its very first record, which has 64 zeros for the hash of the one before. */
  readonly first: number;
  /** The record that must come first now; `null`: any, because the earlier ones are elsewhere. Default: the very first. */
  readonly from?: number | null;
  /** What sentences call a record; default `record`. */
  readonly noun?: string;
}

/** What the very first record has for the hash of the one before. */
export const noHash: string = "0".repeat(64);

/** The hash of a line, without its line feed: SHA-256 in hex. `null`, which is too long for a record, has none. */
export const hashOf = (line: Uint8Array | null): string => (line === null ? noHash : hash("sha256", line));

/**
 * Walks a chain in the order of its lines, and returns its first broken link; `null` if it is whole. Walks on behind the
 * broken link: what comes later can show what it means. Needs the same little memory for a chain of any length.
 */
export function* firstBrokenLink<Where>(
  links: Iterable<Link<Where> | NoLink<Where>>,
  start: ChainStart,
): Pieces<BrokenLink<Where> | null> {
  const { first, from = first, noun = "record" } = start;
  let broken: BrokenLink<Where> | null = null;
  let last: Link<Where> | null = null;
  let [gapFrom, gapTo] = [Infinity, 0];
  for (const link of links) {
    yield;
    if ("reason" in link) {
      broken ??= { kind: "unfit", seq: link.seq, where: link.where, text: link.reason };
    } else if (broken === null) {
      const next: number = last ? last.seq + 1 : (from ?? link.seq);
      broken = brokenBetween(last, link, next, { first, noun });
      if (broken?.kind === "missing") [gapFrom, gapTo] = [next, link.seq];
      last = link;
    } else if (link.seq >= gapFrom && link.seq < gapTo) {
      const text = `${noun} ${gapTo} comes before ${noun} ${link.seq}: it was moved here, or added`;
      broken = { kind: "misplaced", seq: gapTo, where: broken.where, text };
      gapFrom = Infinity;
    }
  }
  return broken;
}

/** What is broken between two records. `last` is `null` before the first one; `next` is the number that must come. */
function brokenBetween<Where>(
  last: Link<Where> | null,
  link: Link<Where>,
  next: number,
  { first, noun }: { readonly first: number; readonly noun: string },
): BrokenLink<Where> | null {
  const { seq, where } = link;
  const one = `${noun} ${seq}`;
  const broken = (kind: BrokenLink<Where>["kind"], text: string): BrokenLink<Where> => ({ kind, seq, where, text });
  if (seq > next) {
    const place = last ? `between ${noun}s ${last.seq} and ${seq}` : `before ${one}`;
    const what = seq === next + 1 ? `one ${noun} was` : `${seq - next} ${noun}s were`;
    return broken("missing", `${place}, ${what} removed`);
  }
  if (seq === last?.seq && link.hash === last.hash) return broken("misplaced", `${one} is repeated here`);
  if (seq === last?.seq) return broken("misplaced", `a second ${one} is here: one of the two was added`);
  if (seq < next) {
    const place = last ? `after ${noun} ${last.seq}` : `before the first ${noun}, ${next}`;
    return broken("misplaced", `${one} comes ${place}: it was moved here, repeated or added`);
  }
  if (link.prev === (last?.hash ?? (seq === first ? noHash : link.prev))) return null;
  if (last === null) return broken("changed", `${one} was altered: it has the hash of a ${noun} before it`);
  const text = `${noun} ${last.seq} was altered, or ${one} was, which has another hash of it`;
  return { kind: "changed", seq: last.seq, where: last.where, text };
}
