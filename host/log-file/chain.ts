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

/** A line that is no record, or a record that its reader refuses. */
export interface NoLink<Where> {
  /** A sentence of why. */
  readonly reason: string;
  readonly seq: number | null;
  readonly where: Where;
}

/** The first broken link of a chain. */
export interface BrokenLink<Where> {
  /**
   * - `missing`: records are missing before this one
   * - `changed`: this record was changed, or the one after it
   * - `misplaced`: this record was moved here, repeated or added
   * - `unfit`: it is no record, or its reader has refused it
   */
  readonly kind: "missing" | "changed" | "misplaced" | "unfit";
  /** The number of the record; `null` for a line that is none. */
  readonly seq: number | null;
  readonly where: Where;
  /** A sentence of what it means, with nothing of a record's content. */
  readonly text: string;
}

/** How a chain begins. */
export interface ChainStart {
  /** The number of its very first record, which has 64 zeros for the hash of the one before. */
  readonly first: number;
  /** The record that comes first now; `null`: any, because the earlier ones are elsewhere. By default the very first. */
  readonly from?: number | null;
  /** What sentences call a record. */
  readonly noun?: string;
}

/** The largest number of a record: the names of full files, and heads, have twelve digits for it. */
export const seqMax = 999_999_999_999;

/** What the very first record has for the hash of the one before. */
export const noHash: string = "0".repeat(64);

/** The hash of a line, without its line feed: SHA-256 in hex. */
export const hashOf = (line: Uint8Array): string => hash("sha256", line);

/** The number and the hash that a parsed line has for a chain; `null` when it does not have valid ones. */
export function positionOf(record: unknown): Pick<Link<unknown>, "seq" | "prev"> | null {
  if (typeof record !== "object" || record === null || !("seq" in record) || !("prev" in record)) return null;
  const { seq, prev } = record;
  if (typeof seq !== "number" || !Number.isInteger(seq) || seq < 0 || seq > seqMax) return null;
  return typeof prev === "string" && /^[0-9a-f]{64}$/.test(prev) ? { seq, prev } : null;
}

/**
 * Walks a chain in the order of its lines, and returns its first broken link; `null` if it is whole. Walks on behind the
 * broken link: what comes later can show what it means. Needs the same little memory for a chain of any length.
 */
export function* firstBrokenLink<Where>(
  links: Iterable<Link<Where> | NoLink<Where>>,
  start: ChainStart,
): Pieces<BrokenLink<Where> | null> {
  const { noun = "record" } = start;
  let broken: BrokenLink<Where> | null = null;
  let last: Link<Where> | null = null;
  /** The first number that is missing, if records are. */
  let gapFrom = Infinity;
  for (const link of links) {
    yield;
    const { seq, where } = link;
    if ("reason" in link) {
      broken ??= { kind: "unfit", seq, where, text: link.reason };
      continue;
    }
    if (broken === null) {
      broken = brokenBetween(last, link, start);
      if (broken?.kind === "missing") gapFrom = last ? last.seq + 1 : (start.from ?? start.first);
    } else if (broken.kind === "missing" && link.seq >= gapFrom && link.seq < (broken.seq ?? 0)) {
      broken = { ...broken, kind: "misplaced", text: comesBefore(`${noun} ${broken.seq}`, `${noun} ${seq}`) };
    }
    last = link;
  }
  return broken;
}

const comesBefore = (one: string, other: string): string => `${one} comes before ${other}: it was moved here, or added`;

/** What is broken between two records. `last` is `null` before the first one. */
function brokenBetween<Where>(
  last: Link<Where> | null,
  link: Link<Where>,
  { first, from = first, noun = "record" }: ChainStart,
): BrokenLink<Where> | null {
  const { seq, prev, where } = link;
  const [one, next] = [`${noun} ${seq}`, last ? last.seq + 1 : (from ?? seq)];
  if (seq > next) {
    const place = last ? `between ${noun}s ${last.seq} and ${seq}` : `before ${one}`;
    const what = seq === next + 1 ? `one ${noun} was` : `${seq - next} ${noun}s were`;
    return { kind: "missing", seq, where, text: `${place}, ${what} removed` };
  }
  if (seq < (last?.seq ?? next)) {
    const place = last ? `after ${noun} ${last.seq}` : `before the first ${noun}, ${next}`;
    return { kind: "misplaced", seq, where, text: `${one} comes ${place}: it was moved here, repeated or added` };
  }
  if (last === null) {
    if (seq > first || prev === noHash) return null;
    return { kind: "changed", seq, where, text: `${one} was altered: it has the hash of a ${noun} before it` };
  }
  if (seq === last.seq) {
    const text =
      link.hash === last.hash ? `${one} is repeated here` : `a second ${one} is here: one of the two was added`;
    return { kind: "misplaced", seq, where, text };
  }
  if (prev === last.hash) return null;
  const text = `${noun} ${last.seq} was altered, or ${one} was, which has another hash of it`;
  return { kind: "changed", seq: last.seq, where: last.where, text };
}
