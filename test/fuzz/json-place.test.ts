/** Places in JSON: every text that is not JSON has one, and a value's place is where its key is written. */
import fc from "fast-check";
import { expect, test } from "vitest";

import { parsePlacedJson, placeInJson } from "../../host/values/json-place.ts";
import { UnfitJson } from "../../shared/strict-json.ts";

const messageOf = (text: string): string | null => {
  try {
    parsePlacedJson(text, 1_000);
    return null;
  } catch (error) {
    if (error instanceof UnfitJson) return error.message;
    throw error;
  }
};

const part = fc.oneof(
  fc.constantFrom(
    ...Array.from('{}[]:,"\\\n\t\0 0123456789.eE+-/*#'),
    "true",
    "fals",
    "null",
    '"a"',
    "//",
    "\ufeff",
    "\u2028",
  ),
  fc.string({ unit: "grapheme", maxLength: 2 }),
);
const mutated = fc
  .record({ value: fc.jsonValue(), at: fc.nat(), cut: fc.nat({ max: 3 }), put: part })
  .map(({ value, at, cut, put }) => {
    const text = JSON.stringify(value, null, 1);
    const place = at % (text.length + 1);
    return text.slice(0, place) + put + text.slice(place + cut);
  });

test("a text is refused exactly if it is not JSON, or ambiguous, and then with a place", () => {
  let refused = 0;
  fc.assert(
    fc.property(
      fc.oneof(
        mutated,
        fc.array(part, { maxLength: 12 }).map((parts) => parts.join("")),
      ),
      (text) => {
        const message = messageOf(text);
        let isJson = true;
        try {
          JSON.parse(text);
        } catch {
          isJson = false;
        }
        if (message === null) {
          expect(isJson).toBe(true);
          return;
        }
        refused++;
        const [, line = "", column = "", why] = /\(line (\d+), column (\d+)(: .+)?\)$/.exec(message) ?? [];
        expect(message.startsWith("is not JSON")).toBe(!isJson);
        expect(why === undefined).toBe(isJson);
        const lines = text.split("\n");
        expect(Number(line)).toBeLessThanOrEqual(lines.length);
        expect(Number(column)).toBeLessThanOrEqual((lines[Number(line) - 1]?.length ?? -1) + 1);
      },
    ),
    { numRuns: 20_000 },
  );
  expect(refused).toBeGreaterThan(5_000);
});

/** Paths of all values, each with the text that is written at its place. */
function* placesIn(value: unknown, path: PropertyKey[] = []): Generator<{ path: PropertyKey[]; written: string }> {
  if (Array.isArray(value)) {
    for (const [at, each] of value.entries()) {
      yield { path: [...path, at], written: JSON.stringify(each, null, 1).split("\n")[0] ?? "" };
      yield* placesIn(each, [...path, at]);
    }
  } else if (typeof value === "object" && value !== null) {
    for (const [key, each] of Object.entries(value)) {
      yield { path: [...path, key], written: `${JSON.stringify(key)}:` };
      yield* placesIn(each, [...path, key]);
    }
  }
}

/** The rest of the line from the place of a path on. */
function restAt(text: string, path: readonly PropertyKey[]): string {
  const [, line = "", column = ""] = /^line (\d+), column (\d+)$/.exec(placeInJson(text, path)) ?? [];
  return text.split("\n")[Number(line) - 1]?.slice(Number(column) - 1) ?? "";
}

test("the place of a value is that of its key or, in a list, its own; what is missing has the place of what lacks it", () => {
  let places = 0;
  fc.assert(
    fc.property(fc.oneof(fc.dictionary(fc.string(), fc.jsonValue()), fc.array(fc.jsonValue())), (value) => {
      const text = JSON.stringify(value, null, 1);
      for (const { path, written } of placesIn(JSON.parse(text))) {
        places++;
        expect(restAt(text, path).startsWith(written)).toBe(true);
        expect(placeInJson(text, [...path, "a missing key", 3])).toBe(placeInJson(text, path));
      }
    }),
    { numRuns: 1_000 },
  );
  expect(places).toBeGreaterThan(1_000);
});
