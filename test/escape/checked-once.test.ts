/** A plugin file is checked and compiled once in a process. What one runtime decides does not reach the next. */
import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { createRuntime, memoryStore } from "memcell";
import type { PolicyFile, Runtime } from "memcell";
import { expect, test } from "vitest";

import { policyFor } from "../support/policy-for.ts";
import { manifestOf, resealPlugin } from "../support/reseal-plugin.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { shippedPlugin } from "../support/test-plugin.ts";

const shipped = shippedPlugin("user-memory");
const open = (file: string, policy: PolicyFile): Promise<Runtime> =>
  createRuntime({ store: memoryStore(), plugins: [file], policy, threadsMax: 1 });

/** The policy with other values for the plugin. */
const changed = (changes: Partial<PolicyFile["plugins"][string]>): PolicyFile => {
  const policy = policyFor([shipped]);
  const { tools = {} } = policy.plugins["user-memory"] ?? {};
  return { ...policy, plugins: { "user-memory": { tools, ...changes } } };
};

test("a pin refuses a file that the runtime before has loaded", async () => {
  await using _loaded = await open(shipped, policyFor([shipped]));
  const pinned = changed({ sha256: ["0".repeat(64)] });
  await expect(open(shipped, pinned)).rejects.toMatchObject({ code: "PLUGIN_REFUSED" });
});

test("a policy takes away what the policy before has granted", async () => {
  await using _loaded = await open(shipped, policyFor([shipped]));
  const { UpdateUserMemory: _, ...tools } = changed({}).plugins["user-memory"]?.tools ?? {};
  await using runtime = await open(shipped, changed({ tools }));
  expect(runtime.tools().map(({ name }) => name)).toEqual(["ReadUserMemory", "SearchUserMemory"]);
});

test("a program that changes a schema changes it for itself", async () => {
  const policy = policyFor([shipped]);
  await using first = await open(shipped, policy);
  const before = JSON.stringify(first.tools());
  for (const { inputSchema } of first.tools()) {
    Object.assign(inputSchema.properties ?? {}, { planted: { type: "string" } });
  }
  await using second = await open(shipped, policy);
  expect(JSON.stringify(second.tools())).toBe(before);
});

test("a file that was replaced in its place is checked again", async () => {
  using folder = temporaryFolder();
  const file = join(folder.path, "user-memory.wasm");
  copyFileSync(shipped, file);
  const policy = policyFor([file]);
  await using _loaded = await open(file, policy);
  const wasm = readFileSync(file);
  const manifest = manifestOf(wasm);
  writeFileSync(file, resealPlugin(wasm, { ...manifest, scopes: ["other"] } as never));
  await expect(open(file, policy)).rejects.toMatchObject({ code: "PLUGIN_REFUSED" });
});
