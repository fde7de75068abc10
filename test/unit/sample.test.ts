/** The parts of family `sample` that need no guest: its input schemas. Vectors test its tools. */
import { describe, expect, test } from "vitest";

import { safeParse } from "../../shared/zod.ts";
import { readInput, writeInput } from "../plugins/sample/schemas.ts";

describe("the input of sample_read", () => {
  test.for(["a", "a-1", "a".repeat(64)])("%j is a name", (name) => {
    expect(safeParse(readInput, { name }).success).toBe(true);
  });

  test.for(["", "A", "-a", "1", "a.txt", "../a", "a/b", "a\n", "a".repeat(65), "ä", null])(
    "%j is not a name",
    (name) => {
      expect(safeParse(readInput, { name }).success).toBe(false);
    },
  );

  test("refuses another field", () => {
    expect(safeParse(readInput, { name: "a", user: "bob" }).success).toBe(false);
  });
});

test.for([
  { what: "the longest text", text: "🙂".repeat(10_000), isText: true },
  { what: "a longer text", text: "a".repeat(10_001), isText: false },
  { what: "a text with NUL", text: "a\0", isText: false },
  { what: "a text with half a surrogate pair", text: "a\ud800", isText: false },
])("the input of sample_write: $what", ({ text, isText }) => {
  expect(safeParse(writeInput, { name: "a", text }).success).toBe(isText);
});
