/** The journal's parts whose every case no conformance vector can show: portions of large files, times, white space. */
import { expect, test } from "vitest";

import { compareTimes, parseAt, readAt } from "../../plugin/journal/at-time.ts";
import { cutBlocks, portionsOf } from "../../plugin/journal/cut-blocks.ts";
import { isSurelyOlder } from "../../plugin/journal/newest-in.ts";
import { trim, trimEnd } from "../../plugin/journal/white-space.ts";

test("a file that is split into portions has the same blocks", () => {
  const file = `# Mine\n${Array.from({ length: 5000 }, (_, nth) => `### k${nth}\n\n${"x".repeat(50)}\n\n`).join("")}`;
  const portions = portionsOf(file);
  expect(portions.length).toBeGreaterThan(3);
  // Each begins with a line feed of its own.
  for (const { start, text } of portions) expect(file.slice(start, start + text.length - 1)).toBe(text.slice(1));
  expect(portions.flatMap(({ text }) => cutBlocks(text).slice(1))).toHaveLength(5000);
});

test("times are compared to the nanosecond, and a text that is no time is before all", () => {
  const [older, newer] = ["2026-01-02T03:04:05.123456788Z", "2026-01-02T03:04:05.123456789Z"].map((at) => readAt(at));
  expect(older && newer && compareTimes(older, newer)).toBeLessThan(0);
  expect(parseAt("2026-01-02T24:00:00Z")).toBeNull();
  for (const none of ["yesterday", "", "2026-02-30T00:00:00Z"])
    expect(compareTimes(readAt(none), readAt("1970-01-01"))).toBe(0);
});

test.for([
  { at: "2026-01-02T03:04:05+00:00", isOlder: true },
  { at: "", isOlder: false },
  { at: " 2099-01-01", isOlder: false },
  { at: "2026-01-09T23:00:00-23:00", isOlder: false },
  { at: "2099", isOlder: false },
])("a text with $at is skipped only if it is certainly older", ({ at, isOlder }) => {
  expect(isSurelyOlder(`### a\n<!-- agentool-memory: at=${at} -->\n`, readAt("2026-01-10T12:00:00Z"))).toBe(isOlder);
});

test("white space is what Unicode defines", () => {
  expect([trim("\u0085\u3000 a \u2028\t"), trim("\ufeffa\u200b"), trimEnd(" a\u0085")]).toEqual([
    "a",
    "\ufeffa\u200b",
    " a",
  ]);
  for (let unit = 0; unit < 0x10000; unit++) {
    const character = String.fromCharCode(unit);
    if ((trim(character) === "") !== /\p{White_Space}/u.test(character)) expect.fail(`U+${unit.toString(16)}`);
  }
});
