/** What the first broken link of a chain means. How an audit log's reads is in `test/audit/tampering.test.ts`. */
import { expect, test } from "vitest";

import { firstBrokenLink, hashOf, noHash } from "../../host/log-file/chain.ts";
import type { ChainStart, Link, NoLink } from "../../host/log-file/chain.ts";
import { atOnce } from "../../host/values/turns.ts";

/** A chain of versions from 1 on; `where` is the place in it. */
function chainOf(count: number): Link<number>[] {
  const links: Link<number>[] = [];
  for (let seq = 1; seq <= count; seq++) {
    const prev = links.at(-1)?.hash ?? noHash;
    links.push({ seq, prev, hash: hashOf(Buffer.from(`${seq} ${prev}`)), where: seq });
  }
  return links;
}

const whole = chainOf(5);
const start: ChainStart = { first: 1, noun: "version" };
const none: NoLink<number> = { seq: null, where: 9, reason: "it is no version" };

test.for<
  readonly [name: string, links: readonly (Link<number> | NoLink<number>)[], start: ChainStart, broken: object | null]
>([
  ["that is whole", whole, start, null],
  ["without versions", [], start, null],
  [
    "without its first",
    whole.slice(2),
    start,
    { kind: "missing", seq: 3, where: 3, text: "before version 3, 2 versions were removed" },
  ],
  ["that begins later, as it may", whole.slice(2), { ...start, from: null }, null],
  ["that begins with the right one", whole.slice(2), { ...start, from: 3 }, null],
  [
    "that begins after the right one",
    whole.slice(3),
    { ...start, from: 3 },
    { kind: "missing", seq: 4, where: 4, text: "before version 4, one version was removed" },
  ],
  [
    "that begins before the right one",
    whole,
    { ...start, from: 3 },
    {
      kind: "misplaced",
      seq: 1,
      where: 1,
      text: "version 1 comes before the first version, 3: it was moved here, repeated or added",
    },
  ],
  [
    "whose first has another hash before it, also if it may begin later",
    [{ seq: 1, prev: hashOf(Buffer.of()), hash: noHash, where: 1 }],
    { ...start, from: null },
    { kind: "changed", seq: 1, where: 1, text: "version 1 was altered: it has the hash of a version before it" },
  ],
  [
    "with an altered one",
    whole.with(2, { seq: 3, prev: whole[1]?.hash ?? "", hash: noHash, where: 3 }),
    start,
    {
      kind: "changed",
      seq: 3,
      where: 3,
      text: "version 3 was altered, or version 4 was, which has another hash of it",
    },
  ],
  [
    "with a moved one",
    [...whole.toSpliced(2, 1), ...whole.slice(2, 3)],
    start,
    { kind: "misplaced", seq: 4, where: 4, text: "version 4 comes before version 3: it was moved here, or added" },
  ],
  [
    "with a line that is none",
    whole.with(2, none as never),
    start,
    { kind: "unfit", seq: null, where: 9, text: none.reason },
  ],
])("a chain %s", ([, links, from, broken]) => {
  expect(atOnce(firstBrokenLink(links, from))).toEqual(broken);
});
