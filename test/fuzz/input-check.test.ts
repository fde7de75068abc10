/**
 * What a plugin keeps of a schema gives what zod's own parser gives: the same input, or the same issues. Where it is lenient,
 * it gives what zod gives round by round (`zod-reading.ts`). So it is for the inputs of the shipped plugins, for every schema
 * that they declare, and for random schemas (`any-schema.ts`).
 */
import fc from "fast-check";
import { expect, test } from "vitest";
import { coerce, date, email, intersection, looseObject, pipe, transform, trim } from "zod/mini";

import * as journal from "../../plugin/journal/input.ts";
import * as roles from "../../plugin/kit/inputs.ts";
import { leniencyOf } from "../../plugin/kit/meant-value.ts";
import { inputParser } from "../../plugin/kit/parse-input.ts";
import type { InputRules } from "../../plugin/kit/parse-input.ts";
import { ToolError } from "../../plugin/kit/tool-error.ts";
import * as converted from "../../plugin/move-in/schemas.ts";
import * as histories from "../../plugin/run-history/schemas.ts";
import * as files from "../../plugin/stores/anthropic/schemas.ts";
import * as stores from "../../plugin/stores/schemas.ts";
import { addInput } from "../../plugin/user-memory/schemas/add.ts";
import { readInput } from "../../plugin/user-memory/schemas/read.ts";
import { searchInput } from "../../plugin/user-memory/schemas/search.ts";
import { updateInput } from "../../plugin/user-memory/schemas/update.ts";
import type { Family } from "../../shared/manifest.ts";
import { hasNul } from "../../shared/text.ts";
import * as z from "../../shared/zod.ts";
import { runs } from "../stage/random-runs.ts";
import { anySchema, nearly } from "./any-schema.ts";
import { readByZod } from "./zod-reading.ts";

type Schema = z.ZodMiniType;

/** Modules that use types of the guest's globals, which tests do not have. */
const loaded = async (path: string): Promise<object> =>
  (await import(new URL(`../../plugin/${path}.ts`, import.meta.url).href)) as object;
const [notes, programs] = await Promise.all([loaded("stores/notes/note-inputs"), loaded("stores/program-schemas")]);

/** The inputs of a module. */
const inputsOf = (name: string, module: object): [string, Schema][] =>
  Object.entries(module)
    .filter(([key]) => key.endsWith("Input"))
    .map(([key, input]) => [`${name} ${key}`, input as Schema]);

const inputs = [
  ...inputsOf("user-memory", { addInput, readInput, searchInput, updateInput }),
  ...Object.entries({ converted, journal, roles, histories, files, notes, programs, stores }).flatMap(
    ([name, module]) => inputsOf(name, module),
  ),
];

/** They have lists of objects, records and unions; no guest checks an input by them. */
const families = ["journal", "move-in", "run-history", "stores", "user-memory"].map((name) => loaded(`${name}/family`));
const declared = ((await Promise.all(families)) as { family: Family }[]).flatMap(({ family }) =>
  family.tools.flatMap(({ name, input, exactInput, output }): [string, Schema][] => [
    [`${name}, its input as declared`, exactInput ?? input],
    [`${name}, its output`, output],
  ]),
);

const otherFields = ["other", "ttl"];

/** Compares what the plugin and zod make of an input, which the guest receives as text. */
function expectSame(schema: Schema, value: unknown, isExact: boolean): void {
  const text = JSON.stringify(value);
  const byZod = readByZod(schema, JSON.parse(text), leniencyOf(otherFields, isExact));
  const shown = "issues" in byZod ? { issues: byZod.issues.slice(0, 8) } : byZod;
  expect(parsed({ toolName: "Any", schema, otherFields, isExact }, text)).toEqual(shown);
}

function parsed(rules: InputRules<unknown>, text: string): unknown {
  const parse = inputParser(rules);
  try {
    return { input: parse(text) };
  } catch (error) {
    if (error instanceof ToolError) return { issues: error.issues };
    throw error;
  }
}

test.each([...inputs, ...declared])("%s", (_name, schema) => {
  fc.assert(
    fc.property(nearly(schema, otherFields), fc.boolean(), (value, isExact) => expectSame(schema, value, isExact)),
    runs(60),
  );
});

// With ten times as many runs it takes 25 to 50 s alone.
test("a schema of any kind", { timeout: 240_000 }, () => {
  const example = anySchema.chain((schema) => fc.tuple(fc.constant(schema), nearly(schema, otherFields)));
  fc.assert(
    fc.property(example, fc.boolean(), ([schema, value], isExact) => expectSame(schema, value, isExact)),
    runs(150),
  );
});

test.each([
  ["z.date", z.strictObject({ at: z.strictObject({ day: date() }) }), "at.day has z.date"],
  ["z.pipe", z.strictObject({ name: pipe(z.string(), transform(String)) }), "name has z.pipe"],
  ["z.coerce.number", z.strictObject({ size: coerce.number() }), "size has z.coerce.number"],
  ["other fields", looseObject({}), "its input has an object of any other fields"],
  [
    "other names",
    z.strictObject({ sizes: z.record(z.enum(["a"]), z.int()) }),
    "sizes has a z.record whose names are not",
  ],
  ["a format", z.strictObject({ to: email() }), "to has the check email"],
  ["a changed value", z.strictObject({ name: z.string().check(trim()) }), "name has the check overwrite"],
  [
    "a promise",
    z.strictObject({ name: z.string().check(z.refine(async () => true)) }),
    "name has a z.refine with an async",
  ],
  ["a path", z.strictObject({}).check(z.refine(() => true, { path: ["a"] })), "its input has a z.refine with a path"],
  ["an intersection", intersection(z.object({}), z.object({})), "its input has z.intersection"],
])("a schema with %s, which no rule has, fails the build with a sentence", (_what, schema, wrong) => {
  expect(() => inputParser({ toolName: "save", schema })).toThrow(`Cannot make the check of save: ${wrong}`);
});

test("a list of 100,000 wrong items is refused as one of eight", () => {
  const schema = z.strictObject({ sizes: z.array(z.int({ error: "whole numbers" })) });
  const text = JSON.stringify({ sizes: Array.from({ length: 100_000 }, () => "a") });
  const issue = { field: "sizes", value: "an array", allowed: "whole numbers" };
  expect(parsed({ toolName: "save", schema }, text)).toEqual({ issues: Array.from({ length: 8 }, () => issue) });
});

test("an issue says where in the input its value is", () => {
  const range = z.strictObject({ from: z.int({ error: "a whole number" }) }, { error: "no other field than from" });
  const schema = z.strictObject({ ranges: z.array(range), names: z.record(z.string(), z.string({ error: "a text" })) });
  const text = JSON.stringify({ ranges: [{ from: 1 }, { from: 1.5, to: 2 }], names: { "the first": 5 } });
  expect(parsed({ toolName: "save", schema }, text)).toEqual({
    issues: [
      { field: "ranges[1].from", value: "1.5", allowed: "a whole number" },
      { field: "ranges[1].to", value: "2", allowed: "no other field than from" },
      { field: 'names."the first"', value: "5", allowed: "a text" },
    ],
  });
});

test("NUL is found at any place", () => {
  const text = fc.array(fc.constantFrom("\0", "a", "😀", "", "\\0")).map((parts) => parts.join(""));
  fc.assert(fc.property(text, (each) => hasNul(each) === each.includes("\0")));
});
