/** The shipped policy grants exactly what the shipped tools need: without any one part of it, a tool fails. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { createRuntime } from "memcell";
import type { PolicyFile, Runtime } from "memcell";
import { afterAll, describe, expect, test } from "vitest";

import { oneIn } from "../stage/seed.ts";
import { policyFor } from "../support/policy-for.ts";
import { manifestOf, resealPlugin } from "../support/reseal-plugin.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { shippedNames, shippedPlugin } from "../support/test-plugin.ts";
import { lackings, withoutParts } from "./lacking-plugins.ts";
import { failuresOf, toolUses, writeUseData } from "./tool-uses.ts";

const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());

const file = new URL(import.meta.resolve("memcell/default-policy.json"));
const { lockFile, ...unlocked } = JSON.parse(readFileSync(file, "utf8")) as PolicyFile;

test("the shipped policy grants what the manifests ask for and nothing else, pins all, and changes no limit", () => {
  expect(Object.keys(unlocked.plugins).toSorted()).toEqual(shippedNames());
  for (const [plugin, { tools }] of Object.entries(unlocked.plugins)) {
    const asked = manifestOf(readFileSync(shippedPlugin(plugin))).tools;
    const granted = Object.entries(tools).map(([name, { rights, scopes }]) => ({ name, rights, scopes }));
    expect(granted).toEqual(asked.map(({ name, rights, scopes }) => ({ name, rights, scopes })));
  }
  expect(lockFile).toBe("../../../build/plugins.lock.json");
  expect(unlocked.limits).toBeUndefined();
});

test("control: with the whole policy each use of a tool succeeds", async () => {
  const dataDir = writeUseData(join(folder.path, "data-control"));
  await using runtime = await createRuntime({ dataDir, plugins: shippedNames(), policy: unlocked, threadsMax: 1 });
  for (const use of Object.keys(toolUses)) expect(await failuresOf(runtime, use)).toEqual([]);
});

describe.for(oneIn(4, lackings).map((lacking, at) => [at, lacking] as const))("plugin %i", ([at, lacking]) => {
  let opened: Runtime | null = null;
  const open = async (): Promise<Runtime> => {
    const shipped = readFileSync(shippedPlugin(lacking[0]?.plugin ?? ""));
    const plugins = [join(folder.path, `${at}.wasm`)];
    writeFileSync(plugins[0] ?? "", resealPlugin(shipped, withoutParts(manifestOf(shipped), lacking)));
    const dataDir = writeUseData(join(folder.path, `data-${at}`));
    return await createRuntime({ dataDir, plugins, policy: policyFor(plugins), threadsMax: 1 });
  };
  afterAll(() => opened?.close());

  test.for(lacking)("$title really uses $part of its $kind", async ({ part, title }) => {
    opened ??= await open();
    const denied = part === "search" ? 'scope "store:' : `not granted "${part}"|scope "${part}"`;
    expect(await failuresOf(opened, title)).toContainEqual(expect.stringMatching(new RegExp(denied)));
  });
});
