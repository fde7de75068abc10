/** Random single edits of a log with records of every kind: each is found unless it changes nothing. */
import { readFileSync, writeFileSync } from "node:fs";

import fc from "fast-check";
import { expect, test } from "vitest";

import { verifyLog } from "../stage/audit-log.ts";
import { isLong } from "../stage/seed.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { recordLog } from "./recorded-log.ts";

type Edit = (bytes: Buffer) => Buffer;

const lineAt = (bytes: Buffer, part: number): { from: number; to: number } => {
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
const few = fc.oneof(
  fc.uint8Array({ minLength: 1, maxLength: 20 }),
  fc.constantFrom(Buffer.from("\n"), Buffer.from(" ")),
);

const edits: Record<string, fc.Arbitrary<Edit>> = {
  "a bit is flipped": fc.tuple(part, fc.nat(7)).map(([place, bit]) => (bytes) => {
    const at = Math.floor(place * bytes.length);
    return Buffer.from(bytes).fill((bytes[at] ?? 0) ^ (1 << bit), at, at + 1);
  }),
  "bytes are put in": fc.tuple(part, few).map(
    ([place, more]) =>
      (bytes) =>
        put(bytes, Math.floor(place * bytes.length), more),
  ),
  "bytes are taken out": fc.tuple(part, fc.integer({ min: 1, max: 2000 })).map(([place, count]) => (bytes) => {
    const at = Math.floor(place * bytes.length);
    return cut(bytes, at, at + count);
  }),
  "the end is cut off": part.map((place) => (bytes) => bytes.subarray(0, Math.floor(place * bytes.length))),
  "a line is removed": part.map((each) => (bytes) => cut(bytes, lineAt(bytes, each).from, lineAt(bytes, each).to)),
  "a line is repeated elsewhere": fc.tuple(part, part).map(([from, to]) => (bytes) => {
    const line = lineAt(bytes, from);
    return put(bytes, lineAt(bytes, to).from, bytes.subarray(line.from, line.to));
  }),
  "a line is moved": fc.tuple(part, part).map(([from, to]) => (bytes) => {
    const line = lineAt(bytes, from);
    const rest = cut(bytes, line.from, line.to);
    return put(rest, lineAt(rest, to).from, bytes.subarray(line.from, line.to));
  }),
};

const runs = isLong ? 20_000 : 400;

test.for(Object.entries(edits))("%s", async ([, edit]) => {
  using folder = temporaryFolder();
  const file = await recordLog(folder.path, 2);
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
