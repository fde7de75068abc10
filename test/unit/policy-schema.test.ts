/** The published JSON Schema matches the host's check. After a change, `npx vitest run -u` with this file writes it. */
import { readFileSync } from "node:fs";

import { Ajv2020 } from "ajv/dist/2020.js";
import { expect, test } from "vitest";

import { loadPolicy } from "../../host/plugins/policy/load-policy.ts";
import { policyFileSchema } from "../../host/plugins/policy/policy-schema.ts";
import type { PolicyFile } from "../../host/plugins/policy/policy-schema.ts";
import { toJSONSchema } from "../../shared/zod.ts";
import { asToolError } from "../stage/store.ts";

const published = (name: string): unknown => JSON.parse(readFileSync(new URL(import.meta.resolve(name)), "utf8"));

test("policy.schema.json is generated from the schema that the host checks with", async () => {
  const { "~standard": _, ...schema } = toJSONSchema(policyFileSchema, { io: "input", target: "draft-2020-12" });
  const text = `${JSON.stringify({ title: "A memcell policy", ...schema }, null, 2)}\n`;
  await expect(text).toMatchFileSnapshot("../../host/plugins/policy/policy.schema.json");
});

const isValid = new Ajv2020({ strict: true }).compile(published("memcell/policy.schema.json") as object);
const tool = { rights: ["read"], scopes: ["memory"] };

test("the default policy is valid and names its schema", () => {
  const policy = published("memcell/default-policy.json") as { $schema: string };
  expect(isValid(policy) || isValid.errors).toBe(true);
  expect(policy.$schema).toBe("./policy.schema.json");
});

const fitting: { readonly name: string; readonly file: object }[] = [
  { name: "nothing granted", file: { version: 1, plugins: {} } },
  { name: "limits as they are", file: { version: 1, limits: { memoryPages: 512, deadlineMs: 10_000 }, plugins: {} } },
  { name: "the lowest limits", file: { version: 1, limits: { fuelPolls: 1, stagedBytes: 1 }, plugins: {} } },
  { name: "the longest history", file: { version: 1, history: { daysMax: 3650, bytesMax: 268435456 }, plugins: {} } },
  { name: "a tool without rights", file: { version: 1, plugins: { a: { tools: { T: { rights: [], scopes: [] } } } } } },
  { name: "a plugin and a tool named constructor", file: plugins({ constructor: { tools: { constructor: tool } } }) },
  { name: "a strict policy", file: { version: 1, strict: true, plugins: {} } },
  { name: "a pinned file", file: plugins({ a: { sha256: ["0".repeat(64)], tools: {} } }) },
];

test.for(fitting)("both accept $name", async ({ file }) => {
  expect(isValid(file) || isValid.errors).toBe(true);
  await expect(loadPolicy(file as PolicyFile)).resolves.toMatchObject({ name: "inline" });
});

interface Misfit {
  readonly name: string;
  readonly file: unknown;
  readonly says: string;
}

const misfits: readonly Misfit[] = [
  { name: "an array", file: [], says: "it is an empty array, allowed: an object with version" },
  { name: "nothing", file: {}, says: "version is missing, allowed: 1" },
  { name: "another version", file: { version: 2, plugins: {} }, says: "version is 2, allowed: 1" },
  { name: "no plugins", file: { version: 1 }, says: "plugins is missing, allowed: an object with plugins' names" },
  {
    name: "a text for strict",
    file: { version: 1, strict: "no", plugins: {} },
    says: 'strict is "no", allowed: true or',
  },
  { name: "an unknown key", file: { version: 1, plugins: {}, allow: [] }, says: 'it has the key "allow", allowed' },
  {
    name: "a higher limit",
    file: { version: 1, limits: { memoryPages: 513 }, plugins: {} },
    says: "limits.memoryPages is 513, allowed: a whole number from 1 to 512",
  },
  {
    name: "a limit of zero",
    file: { version: 1, limits: { hostCalls: 0 }, plugins: {} },
    says: "limits.hostCalls is 0, allowed: a whole number from 1 to 10000",
  },
  {
    name: "a fraction of a limit",
    file: { version: 1, limits: { deadlineMs: 0.5 }, plugins: {} },
    says: "limits.deadlineMs is 0.5, allowed: a whole number from 1 to 10000",
  },
  {
    name: "a limit that is null",
    file: { version: 1, limits: { inputBytes: null }, plugins: {} },
    says: "limits.inputBytes is null, allowed: a whole number from 1 to 524288",
  },
  {
    name: "a limit that is a text",
    file: { version: 1, limits: { stagedBytes: "1" }, plugins: {} },
    says: 'limits.stagedBytes is "1", allowed: a whole number from 1 to 67108864',
  },
  {
    name: "a limit with an unknown name",
    file: { version: 1, limits: { deadlineMS: 1 }, plugins: {} },
    says: 'limits has the key "deadlineMS", allowed: an object with deadlineMs, fuelPolls',
  },
  {
    name: "a history of no days",
    file: { version: 1, history: { daysMax: 0 }, plugins: {} },
    says: "history.daysMax is 0, allowed: a whole number from 1 to 3650",
  },
  {
    name: "a history of few bytes",
    file: { version: 1, history: { bytesMax: 1048575 }, plugins: {} },
    says: "history.bytesMax is 1048575, allowed: a whole number from 1048576 to 268435456",
  },
  {
    name: "a history with an unknown name",
    file: { version: 1, history: { days: 90 }, plugins: {} },
    says: 'history has the key "days", allowed: an object with daysMax, bytesMax',
  },
  {
    name: "a history that is a number",
    file: { version: 1, history: 90, plugins: {} },
    says: "history is 90, allowed: an object with daysMax, bytesMax",
  },
  {
    name: "an unknown right",
    file: plugins({ a: { tools: { T: { ...tool, rights: ["read", "network"] } } } }),
    says: 'plugins.a.tools.T.rights[1] is "network", allowed: one of read, list, write, trash, clock',
  },
  {
    name: "a scope that is a parent path",
    file: plugins({ a: { tools: { T: { ...tool, scopes: ["../x"] } } } }),
    says: 'plugins.a.tools.T.scopes[0] is "../x", allowed: a scope\'s name',
  },
  {
    name: "a tool without scopes",
    file: plugins({ a: { tools: { T: { rights: [] } } } }),
    says: "plugins.a.tools.T.scopes is missing, allowed: an array of scopes",
  },
  {
    name: "all tools at once",
    file: plugins({ a: { tools: { "*": tool } } }),
    says: 'plugins.a.tools has the key "*", allowed: an object with tools\' names',
  },
  { name: "an invalid plugin name", file: plugins({ "../a": { tools: {} } }), says: 'has the key "../a"' },
  {
    name: "a hash in capitals",
    file: plugins({ "a-b": { sha256: ["A".repeat(64)], tools: {} } }),
    says: `plugins["a-b"].sha256[0] is "${"A".repeat(60)}…", allowed: a SHA-256 in lower-case hex`,
  },
  {
    name: "no hash at all",
    file: plugins({ a: { sha256: [], tools: {} } }),
    says: "plugins.a.sha256 is an empty array, allowed: at least one hash",
  },
  { name: "a lock file without name", file: { version: 1, lockFile: "", plugins: {} }, says: 'lockFile is ""' },
];

test.for(misfits)("both refuse $name, and the host says what is allowed", async ({ file, says }) => {
  expect(isValid(file)).toBe(false);
  const error = await loadPolicy(file as PolicyFile).catch((thrown: unknown) => asToolError(thrown, "load"));
  expect(error).toMatchObject({ code: "PLUGIN_REFUSED", message: expect.stringContaining(says) });
});

function plugins(entries: object): object {
  return { version: 1, plugins: entries };
}
