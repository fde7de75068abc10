/**
 * The published JSON Schema is the host's check, so an editor accepts what the host accepts. After a change,
 * `npx vitest run -u` with this file writes it.
 */
import { readFileSync } from "node:fs";

import { Ajv2020 } from "ajv/dist/2020.js";
import fc from "fast-check";
import { createRuntime, memoryStore } from "memcell";
import { expect, test } from "vitest";

import { policyFileSchema } from "../../host/plugins/policy/policy-schema.ts";
import { toJSONSchema } from "../../shared/zod.ts";
import { runs } from "../stage/random-runs.ts";

test("policy.schema.json is generated from the schema that the host checks with", async () => {
  const { "~standard": _, ...schema } = toJSONSchema(policyFileSchema, { io: "input", target: "draft-2020-12" });
  const text = `${JSON.stringify({ title: "A memcell policy", ...schema }, null, 2)}\n`;
  await expect(text).toMatchFileSnapshot("../../host/plugins/policy/policy.schema.json");
});

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
const hashes = fc.array(mostly(fc.constantFrom("a".repeat(64), "09".repeat(32))), { maxLength: 2 });
const tools = fc.dictionary(name, mostly(tool), { maxKeys: 2 });
const plugin = fc.record({ sha256: mostly(hashes), tools: mostly(tools) }, { requiredKeys: ["tools"] });
const limit = fc.constantFrom("deadlineMs", "fuelPolls", "memoryPages", "hostCalls", "stagedBytes", "DeadlineMs");
const policy = fc.record(
  {
    version: mostly(fc.constant(1), 20),
    $schema: mostly(fc.string()),
    strict: mostly(fc.boolean()),
    limits: mostly(fc.dictionary(limit, mostly(fc.integer({ min: -1, max: 20_001 })), { maxKeys: 2 })),
    plugins: mostly(fc.dictionary(name, mostly(plugin), { maxKeys: 2 }), 20),
  },
  { requiredKeys: ["version", "plugins"] },
);

/** Errors that a schema cannot express: duplicate keys, depth, and `__proto__`. */
const beyondSchemas = /twice in one object|levels deep|"__proto__"/;

test("host and schema agree on random policies, many valid and many not", async () => {
  const seen = { fit: 0, misfit: 0 };
  await fc.assert(
    fc.asyncProperty(policy, async (each) => {
      // Behind the policy, the host looks for the plugin, which is not there.
      const options = { store: memoryStore(), plugins: ["absent.wasm"], policy: each as never };
      const refusal = await createRuntime(options).then(String, ({ message }: Error) => message);
      if (beyondSchemas.test(refusal)) return;
      const isRefused = refusal.startsWith("Cannot use policy ");
      expect(isValid(JSON.parse(JSON.stringify(each))), refusal).toBe(!isRefused);
      seen[isRefused ? "misfit" : "fit"]++;
    }),
    runs(500),
  );
  expect(Math.min(seen.fit, seen.misfit)).toBeGreaterThan(50);
});
