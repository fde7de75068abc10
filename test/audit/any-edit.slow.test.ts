/** Random single edits of a log: each is found unless it changes nothing. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import fc from "fast-check";
import { expect, test } from "vitest";

import { verifyLog } from "../stage/audit-log.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { callEntry, stagedEntry, useEntry } from "./audit-entries.ts";
import { logName, writeRun } from "./log-under-test.ts";

type Edit = (bytes: Buffer) => Buffer;

const lineOf = (bytes: Buffer, part: number): { from: number; to: number } => {
  const feeds = [...bytes.entries()].flatMap(([at, byte]) => (byte === 0x0a ? [at + 1] : []));
  const index = Math.floor(part * feeds.length);
  return { from: feeds[index - 1] ?? 0, to: feeds[index] ?? bytes.length };
};
const cut = (bytes: Buffer, from: number, to: number): Buffer =>
  Buffer.concat([bytes.subarray(0, from), bytes.subarray(to)]);
const put = (bytes: Buffer, at: number, more: Uint8Array): Buffer =>
  Buffer.concat([bytes.subarray(0, at), more, bytes.subarray(at)]);

/** Uniform over the file. By default, fast-check prefers values near the beginning. */
const part = fc.noBias(fc.nat(999_999)).map((millionths) => millionths / 1_000_000);
const place = part.map(
  (each) =>
    (bytes: Buffer): number =>
      Math.floor(each * bytes.length),
);

const edits: Record<string, fc.Arbitrary<Edit>> = {
  "a bit is flipped": fc.tuple(place, fc.nat(7)).map(([at, bit]) => (bytes) => {
    const copy = Buffer.from(bytes);
    copy[at(bytes)] = (bytes[at(bytes)] ?? 0) ^ (1 << bit);
    return copy;
  }),
  "bytes are put in": fc
    .tuple(
      place,
      fc.oneof(fc.uint8Array({ minLength: 1, maxLength: 20 }), fc.constantFrom(Buffer.from("\n"), Buffer.from(" "))),
    )
    .map(
      ([at, more]) =>
        (bytes) =>
          put(bytes, at(bytes), more),
    ),
  "bytes are taken out": fc.tuple(place, fc.integer({ min: 1, max: 2000 })).map(
    ([at, count]) =>
      (bytes) =>
        cut(bytes, at(bytes), at(bytes) + count),
  ),
  "the end is cut off": place.map((at) => (bytes) => bytes.subarray(0, at(bytes))),
  "a line is removed": part.map((each) => (bytes) => cut(bytes, lineOf(bytes, each).from, lineOf(bytes, each).to)),
  "a line is repeated elsewhere": fc.tuple(part, part).map(([from, to]) => (bytes) => {
    const line = lineOf(bytes, from);
    return put(bytes, lineOf(bytes, to).from, bytes.subarray(line.from, line.to));
  }),
  "a line is moved": fc.tuple(part, part).map(([from, to]) => (bytes) => {
    const line = lineOf(bytes, from);
    const rest = cut(bytes, line.from, line.to);
    return put(rest, lineOf(rest, to).from, bytes.subarray(line.from, line.to));
  }),
  "two lines change places": fc.tuple(part, part).map(([one, other]) => (bytes) => {
    const [first, second] = [lineOf(bytes, Math.min(one, other)), lineOf(bytes, Math.max(one, other))];
    if (first.from === second.from) return bytes;
    const between = bytes.subarray(first.to, second.from);
    const [a, b] = [bytes.subarray(first.from, first.to), bytes.subarray(second.from, second.to)];
    return Buffer.concat([bytes.subarray(0, first.from), b, between, a, bytes.subarray(second.to)]);
  }),
};

const runs = process.env["TEST_LONG"] === "1" ? 20_000 : 400;

test.for(Object.entries(edits))("%s", async ([, edit]) => {
  using folder = temporaryFolder();
  const entries = Array.from(
    { length: 12 },
    (_, at) => [callEntry, useEntry, stagedEntry][at % 3]?.(at) ?? callEntry(at),
  );
  await writeRun(folder.path, entries);
  const file = join(folder.path, logName);
  const whole = readFileSync(file);
  let changes = 0;
  fc.assert(
    fc.property(edit, (change) => {
      const bytes = change(whole);
      if (bytes.equals(whole)) return;
      changes++;
      writeFileSync(file, bytes);
      const { isIntact, findings } = verifyLog([file]);
      expect(isIntact).toBe(false);
      expect(findings.length).toBeGreaterThan(0);
    }),
    { numRuns: runs },
  );
  expect(changes).toBeGreaterThan(runs / 2);
});
