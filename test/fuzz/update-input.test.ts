/** The guest chooses the schema of an update itself. It must choose the same one as the union. */
import fc from "fast-check";
import { expect, test } from "vitest";

import { updateInput, updateInputFor } from "../../plugin/user-memory/schemas/update.ts";
import { hasNul } from "../../shared/text.ts";
import { safeParse } from "../../shared/zod.ts";

const field = fc.oneof(
  fc.constantFrom("a", "a.md", "", "x y", "user", "project", "upsert", "delete", "\0", "\ud800", "two\nlines"),
  fc.string({ maxLength: 400 }),
  fc.jsonValue({ maxDepth: 1 }),
);
const input = fc.oneof(
  fc.record(
    {
      action: fc.oneof(fc.constantFrom("upsert", "delete"), field),
      name: field,
      type: field,
      description: field,
      body: field,
      extra: field,
    },
    { requiredKeys: [] },
  ),
  fc.record({
    action: fc.constantFrom("upsert", "delete"),
    name: fc.constantFrom("a", "b-c"),
    type: fc.constantFrom("user", "reference"),
    description: field,
    body: field,
  }),
  fc.jsonValue(),
);

test("an input is parsed as the union parses it, and refused with the same issues", () => {
  fc.assert(
    fc.property(input, (made) => {
      // In the form that the guest receives.
      const value: unknown = JSON.parse(JSON.stringify(made));
      const chosen = safeParse(updateInputFor(value), value);
      const expected = safeParse(updateInput, value);
      expect(chosen.success).toBe(expected.success);
      expect(chosen.data).toEqual(expected.data);
      expect(chosen.error?.issues).toEqual(expected.error?.issues);
    }),
    { numRuns: 20_000 },
  );
});

test("NUL is found at any place", () => {
  const text = fc.array(fc.constantFrom("\0", "a", "😀", "", "\\0")).map((parts) => parts.join(""));
  fc.assert(fc.property(text, (each) => hasNul(each) === each.includes("\0")));
});
