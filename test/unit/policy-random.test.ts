/** The published JSON Schema and the host agree on every document, so an editor accepts what the host accepts. */
import { readFileSync } from "node:fs";

import { Ajv2020 } from "ajv/dist/2020.js";
import fc from "fast-check";
import { expect, test } from "vitest";

import { policyFileSchema } from "../../host/plugins/policy/policy-schema.ts";
import { readJson } from "../../host/plugins/policy/read-json.ts";

const schema = readFileSync(new URL(import.meta.resolve("memcell/policy.schema.json")), "utf8");
const isValid = new Ajv2020({ strict: true }).compile(JSON.parse(schema) as object);

const odd = fc.oneof(
  fc.constantFrom(null, true, -0, 0, 1, 1.5, -1, 1e4, 513, "", "a\n", "memory\n", "A".repeat(64), [], {}),
  fc.jsonValue({ maxDepth: 2 }),
);
/** Sometimes replaced by another value. */
const mostly = (each: fc.Arbitrary<unknown>, weight = 8): fc.Arbitrary<unknown> =>
  fc.oneof({ weight, arbitrary: each }, { weight: 1, arbitrary: odd });
const name = fc.constantFrom("a", "user-memory", "Tool_1", "T\n", "a\n", "constructor", "é", "𝒜", "a".repeat(65));
const scope = fc.constantFrom("memory", "notes", "..", "a/b", "", "Memory", "x".repeat(64), "x".repeat(65));
const right = fc.constantFrom("read", "list", "write", "trash", "clock");

const tool = fc.record(
  {
    rights: mostly(fc.array(mostly(right), { maxLength: 3 })),
    scopes: mostly(fc.array(mostly(scope), { maxLength: 2 })),
    audience: mostly(fc.constantFrom("model", "host")),
  },
  { requiredKeys: [] },
);
const plugin = fc.record(
  {
    sha256: mostly(fc.array(mostly(fc.constantFrom("a".repeat(64), "09".repeat(32))), { maxLength: 2 })),
    tools: mostly(fc.dictionary(name, mostly(tool), { maxKeys: 2 })),
  },
  { requiredKeys: ["tools"] },
);
const limit = fc.constantFrom("deadlineMs", "fuelPolls", "memoryPages", "hostCalls", "stagedBytes", "DeadlineMs");
const file = fc.record(
  {
    version: mostly(fc.constant(1), 20),
    $schema: mostly(fc.string()),
    lockFile: mostly(fc.constant("lock.json")),
    strict: mostly(fc.boolean()),
    limits: mostly(fc.dictionary(limit, mostly(fc.integer({ min: -1, max: 20_001 })), { maxKeys: 2 })),
    plugins: mostly(fc.dictionary(name, mostly(plugin), { maxKeys: 2 }), 20),
  },
  { requiredKeys: ["version", "plugins"] },
);

/** Errors that a schema cannot express: duplicate keys, depth, and `__proto__`. */
const beyondSchemas = /twice in one object|levels deep|"__proto__"/;

test("host and schema agree on random documents, many valid and many not", () => {
  let fit = 0;
  let misfit = 0;
  fc.assert(
    fc.property(file, (each) => {
      const text = JSON.stringify(each);
      const reason = refusalOf(text);
      if (reason !== null && beyondSchemas.test(reason)) return;
      expect(isValid(JSON.parse(text)), `${text}: ${reason}`).toBe(reason === null);
      if (reason === null) fit++;
      else misfit++;
    }),
    { numRuns: 5_000 },
  );
  expect(Math.min(fit, misfit)).toBeGreaterThan(500);
});

function refusalOf(text: string): string | null {
  try {
    readJson(text, policyFileSchema, "object");
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : "unknown";
  }
}
