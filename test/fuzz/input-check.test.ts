/**
 * The function that a plugin keeps of a schema gives what the schema's own parser gives: the same input or the same issues.
 * Where it is lenient, it gives what the check that keeps zod gives, and takes an input in the words of a careless client.
 */
import fc from "fast-check";
import { expect, test } from "vitest";

import * as journal from "../../plugin/journal/input.ts";
import { inputCheck } from "../../plugin/kit/input-check.ts";
import { fieldName, objectCheck } from "../../plugin/kit/object-check.ts";
import * as roles from "../../plugin/kit/role-inputs.ts";
import { schemaCheck } from "../../plugin/kit/schema-check.ts";
import * as histories from "../../plugin/run-history/schemas.ts";
import * as files from "../../plugin/stores/anthropic/schemas.ts";
import * as stores from "../../plugin/stores/schemas.ts";
import { readInput } from "../../plugin/user-memory/schemas/read.ts";
import { searchInput } from "../../plugin/user-memory/schemas/search.ts";
import { updateInput } from "../../plugin/user-memory/schemas/update.ts";
import type { InputIssue } from "../../shared/envelope.ts";
import { hasNul, presentValue } from "../../shared/text.ts";
import * as z from "../../shared/zod.ts";
import { runs } from "../stage/random-runs.ts";

type Schema = z.ZodMiniType;

/** Modules that use types of the guest's globals, which tests do not have. */
const loaded = async (path: string): Promise<object> =>
  (await import(new URL(`../../plugin/stores/${path}.ts`, import.meta.url).href)) as object;
const [notes, programs] = await Promise.all([loaded("notes/note-inputs"), loaded("program-schemas")]);

/** The inputs of a module. */
const inputsOf = (name: string, module: object): [string, Schema][] =>
  Object.entries(module)
    .filter(([key]) => key.endsWith("Input"))
    .map(([key, input]) => [`${name} ${key}`, input as Schema]);

const inputs = [
  ...inputsOf("user-memory", { readInput, searchInput, updateInput }),
  ...Object.entries({ journal, roles, histories, files, notes, programs, stores }).flatMap(([name, module]) =>
    inputsOf(name, module),
  ),
];

const fieldsOf = (schema: Schema): string[] => {
  const { shape, options } = schema._zod.def as { shape?: object; options?: Schema[] };
  return shape ? Object.keys(shape) : (options ?? []).flatMap(fieldsOf);
};

const texts = ["a", "a.md", "", "x y", "user", "upsert", "delete", "view", "daily", "\0", "\ud800", "two\nlines", "😀"];
const value = fc.oneof(
  fc.constantFrom(...texts, 0, 1, -1, 1.5, 2 ** 53, true, false, []),
  fc.string({ maxLength: 400 }),
  fc.array(fc.constantFrom(...texts, 1, null), { maxLength: 25 }),
  fc.jsonValue({ maxDepth: 1 }),
);

/** In the form that the guest receives. */
const received = (made: unknown): unknown => JSON.parse(JSON.stringify(made));

function inputFor(schema: Schema): fc.Arbitrary<unknown> {
  const names = [...new Set(fieldsOf(schema))];
  const constants = (schema._zod.def as { shape?: Record<string, Schema> }).shape ?? {};
  const fields = names.map((name) => {
    const { values } = (constants[name]?._zod.def ?? {}) as { values?: string[] };
    return [name, values ? fc.oneof({ weight: 9, arbitrary: fc.constantFrom(...values) }, value) : value] as const;
  });
  const other = fc.constantFrom("extra", "constructor", "a b", "__proto__");
  return fc.oneof(
    { weight: 8, arbitrary: fc.record(Object.fromEntries(fields), { requiredKeys: [] }) },
    fc
      .tuple(fc.record(Object.fromEntries(fields)), other, value)
      .map(([known, name, more]) =>
        JSON.parse(
          `${JSON.stringify(known).slice(0, -1)}${fields.length > 0 ? "," : ""}${JSON.stringify(name)}:${JSON.stringify(more)}}`,
        ),
      ),
    fc.jsonValue(),
  );
}

interface Issue {
  readonly path: readonly PropertyKey[];
  readonly message: string;
  readonly keys?: readonly string[];
}

/**
 * Field and text of each issue, as a check names them. Another test of the same process can have loaded the whole of zod,
 * which then adds English words to "Invalid input".
 */
const named = (issues: readonly Issue[]): string[] =>
  issues.flatMap(({ path: [field], message: text, keys }) => {
    const message = text.replace(/^Invalid input: .*/s, "Invalid input");
    if (keys) return keys.map((key) => `${fieldName(key)}: ${message}`);
    return [field === undefined ? "input: a JSON object" : `${String(field)}: ${message}`];
  });

/** Without optional fields that are null, which a check leaves out. */
const hasNull = (input: unknown): boolean => Object.values(Object(input) as object).includes(null);

test.each(inputs)("%s", (_name, schema) => {
  const check = inputCheck(schema, { isExact: true });
  fc.assert(
    fc.property(inputFor(schema), (made) => {
      const input = received(made);
      fc.pre(!hasNull(input));
      const [checked, parsed] = [check(input), z.safeParse(schema, input)];
      if (parsed.success) {
        expect(checked).toEqual({ input: parsed.data });
        return;
      }
      const issues = parsed.error.issues as readonly Issue[];
      const found = "issues" in checked ? checked.issues : [];
      expect(found.map(({ field, allowed }) => `${field}: ${allowed}`)).toEqual(named(issues));
    }),
    runs(200),
  );
});

/** The inputs that are one object. */
const objects = inputs.filter(([, schema]) => "shape" in schema._zod.def);

/** Values as careless clients send them. */
const careless = fc.oneof(
  value,
  fc.constantFrom("null", "[]", "{}", "5", " 1 ", "true", '"a"', '["1", 2]', "[1", "[[", null, {}),
  fc.jsonValue({ maxDepth: 2 }).map((each) => JSON.stringify(each)),
);

test.each(objects)("%s, read leniently, with zod or without", (_name, schema) => {
  const leniency = { otherFields: ["other", "ttl"], isExact: false };
  const checks = [objectCheck(schema as never, leniency), schemaCheck(schema, leniency)] as const;
  const names = [...fieldsOf(schema), "other", "ttl", "extra"];
  const input = fc.record(Object.fromEntries(names.map((name) => [name, careless])), { requiredKeys: [] });
  fc.assert(
    fc.property(input, (made) => {
      const [own, zods] = checks.map((check) => check?.(received(made)) ?? {});
      expect(sentences(own ?? {})).toEqual(sentences(zods ?? {}));
    }),
    runs(100),
  );
});

const sentences = (checked: object): unknown =>
  "issues" in checked ? named((checked.issues as InputIssue[]).map(asIssue)) : checked;

const asIssue = ({ field, allowed }: InputIssue): Issue => ({ path: [field], message: allowed });

test("an issue has the value that is wrong", () => {
  const check = inputCheck(updateInput);
  const input = { action: "upsert", name: 5, type: "user", description: "a", body: "b" };
  expect(check(input)).toMatchObject({ issues: [{ field: "name", value: presentValue(5) }] });
});

test("NUL is found at any place", () => {
  const text = fc.array(fc.constantFrom("\0", "a", "😀", "", "\\0")).map((parts) => parts.join(""));
  fc.assert(fc.property(text, (each) => hasNul(each) === each.includes("\0")));
});
