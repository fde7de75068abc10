/** Where a file's times show every change of its content, and where they do not. */
import { expect, test } from "vitest";

import { stampFrom } from "../../host/disk/file-stamp.ts";
import type { StampFacts, TimesOfDisk } from "../../host/disk/file-stamp.ts";

const nowMs = 1_800_000_000_000;
const changed = (agoMs: number, ns = 123n): StampFacts => ({
  dev: 1n,
  ino: 2n,
  size: 3n,
  mtimeNs: 4n,
  ctimeNs: BigInt(nowMs - agoMs) * 1_000_000n + ns,
});

test.for([
  ["each change has its own time", "each", changed(0), true],
  ["times are those of ticks, and the file is old", "tick", changed(21), true],
  ["times are those of ticks, and the file is young", "tick", changed(20), false],
  ["times are those of ticks, and the clock was set back", "tick", changed(-5_000), false],
  ["nothing is known of the disk", "unknown", changed(3_600_000), false],
  ["the disk keeps whole seconds", "each", changed(0, 0n), false],
  ["the disk keeps whole seconds, and the file is old", "tick", changed(60_000, 0n), false],
] as const satisfies readonly (readonly [string, TimesOfDisk, StampFacts, boolean])[])(
  "if %s",
  ([, times, facts, hasStamp]) => {
    expect(stampFrom(facts, times, nowMs) !== null).toBe(hasStamp);
  },
);

test("each fact makes another stamp", () => {
  const facts = changed(1_000);
  const others = (["dev", "ino", "size", "mtimeNs", "ctimeNs"] as const).map((key) =>
    Object.assign({}, facts, { [key]: facts[key] + 1n }),
  );
  const texts = [facts, ...others].map((each) => stampFrom(each, "each", nowMs)?.text);
  expect(new Set(texts).size).toBe(6);
});
