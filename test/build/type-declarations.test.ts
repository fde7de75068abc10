/** The types of a plugin's tools for programs: they follow from its manifest, and the compiler enforces them. */
import { expect, test } from "vitest";

import { makeManifest } from "../../build/seal.ts";
import { typeDeclarations, withExactInputs } from "../../build/type-declarations.ts";
import type { Family } from "../../shared/manifest.ts";
import * as z from "../../shared/zod.ts";

const rest = { description: "", output: {}, scopes: [], rights: [], audience: "model" as const };

test("each form of a schema becomes a type", () => {
  const text = { type: "string", description: "Ends here */ or not" };
  const schema = {
    type: "object",
    properties: {
      text,
      "two words": { type: ["integer", "null"] },
      list: { type: "array", items: { enum: ["a", 1] } },
      either: { anyOf: [{ type: "boolean" }, { const: "x" }] },
      deep: { type: "object", properties: { a: {} }, required: ["a"] },
      map: { type: "object", additionalProperties: { type: "number" } },
      none: { type: "object", additionalProperties: false },
      anything: {},
    },
    required: ["text"],
  };
  const tools = [{ ...rest, name: "do_it", export: "do_it", input: schema, output: schema }];
  const declared = typeDeclarations({ name: "some", tools });
  expect(declared).toContain(`export type DoItOutput = {
  /** Ends here * / or not */
  text: string;
  "two words"?: number | null;
  list?: Array<"a" | 1>;
  either?: boolean | "x";
  deep?: {
    a: unknown;
  };
  map?: Record<string, number>;
  none?: Record<string, never>;
  anything?: unknown;
};`);
  // A program can give it a list that it does not change, and `undefined` in place of nothing.
  expect(declared).toContain(`  list?: ReadonlyArray<"a" | 1> | undefined;
  either?: boolean | "x" | undefined;
  deep?: {
    a: unknown;
  } | undefined;
  map?: Record<string, number> | undefined;
  none?: Record<string, never> | undefined;
  anything?: unknown;
};`);
});

test("the type of an input comes from the family's exact schema, where it has one", () => {
  const flat = z.strictObject({ name: z.string(), text: z.optional(z.string()) });
  const exact = z.union([z.strictObject({ name: z.string() }), z.strictObject({ name: z.string(), text: z.string() })]);
  const family: Family = {
    name: "some",
    version: "0.1.0",
    tools: [{ ...rest, name: "Do", export: "do", input: flat, exactInput: exact, output: z.unknown() }],
  };
  const manifest = makeManifest(family, { min: 1, max: 2 });
  expect(JSON.stringify(manifest)).not.toMatch(/anyOf|exactInput/);
  expect(typeDeclarations(withExactInputs(manifest, family))).toContain(`export type DoInput = {
  name: string;
} | {
  name: string;
  text: string;
};`);
});

test("tools with similar names have separate types, a tool of commands and one for programs have theirs", () => {
  const commands = [{ name: "a", export: "a", rights: [], fields: [] }];
  const tools = [
    { ...rest, name: "note_add", export: "note_add", input: { type: "object", required: ["id"] } },
    { ...rest, name: "NoteAdd", export: "note_add2", input: {} },
    { ...rest, name: "Inner", export: "inner", audience: "host" as const, input: {} },
    { ...rest, name: "Many", commands, input: {} },
  ];
  const declared = typeDeclarations({ name: "some", tools });
  expect(declared).toContain("export type note_addInput = {\n  id: unknown;\n};");
  expect(declared).toContain("export type NoteAddInput = unknown;");
  expect(declared).toContain(`export interface HostTools {
  "some/Inner": { input: InnerInput; output: InnerOutput };
  "some/Many": { input: ManyInput; output: ManyOutput };
}`);
});
