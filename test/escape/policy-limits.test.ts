/** A limit that a policy lowers applies to every call, and no option raises it again. */
import { join } from "node:path";

import { createRuntime } from "memcell";
import type { PolicyFile, Runtime, RuntimeOptions, ToolResult } from "memcell";
import { afterAll, expect, test } from "vitest";

import { writeSpinner } from "../bounds/bounded-stage.ts";
import { policyFor } from "../support/policy-for.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { shippedPlugin, testPlugin } from "../support/test-plugin.ts";
import { readUserFiles, userFolderNames } from "../support/user-files.ts";
import { writeGuest } from "../support/write-guest.ts";

const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());

const spinner = writeSpinner(folder.path, 10_000);
const growths = { GrowAndTrap: "grow_and_trap", GrowAndAnswer: "grow_and_answer" };
const grower = writeGuest(folder.path, "grower", growths);
const plugins = [testPlugin("puppet"), spinner, grower, shippedPlugin("user-memory")];
const alice = { userId: "alice" };
let folders = 0;

/** Runs a call under a policy's limits. Returns its result and the user's files. */
async function under(
  limits: PolicyFile["limits"],
  call: (runtime: Runtime) => Promise<ToolResult>,
  options: Partial<RuntimeOptions> = {},
): Promise<{ result: ToolResult; files: Record<string, string> }> {
  const dataDir = join(folder.path, `data-${++folders}`);
  await using runtime = await createRuntime({
    dataDir,
    plugins,
    policy: policyFor(plugins, limits),
    threadsMax: 1,
    ...options,
  });
  const result = await call(runtime);
  return { result, files: userFolderNames(dataDir).length === 0 ? {} : readUserFiles(dataDir, "alice") };
}

const refusal = (code: string, message: string): object => ({
  ok: false,
  error: { code, message: expect.stringContaining(message) as string },
});
const step = (of: string, request: object): object => ({ of, request: JSON.stringify(request) });

const spin = (runtime: Runtime): Promise<ToolResult> => runtime.call("Spin", {}, alice);

test.for([
  { name: "beside a longer one", options: { deadlineMs: 60_000 }, ms: 60 },
  { name: "beside a shorter one", options: { deadlineMs: 30 }, ms: 30 },
])("the policy's deadline ends a guest, $name", async ({ options, ms }) => {
  const { result, files } = await under({ deadlineMs: 60 }, spin, options);
  expect(result).toMatchObject(refusal("DEADLINE_EXCEEDED", `it ran for over ${ms} ms`));
  expect(files).toEqual({});
});

const turn = (runtime: Runtime): Promise<ToolResult> => runtime.call("Puppet", [{ turns: 1_000_000 }], alice);

test.for<{ name: string; limits: PolicyFile["limits"]; options: Partial<RuntimeOptions>; code: string | null }>([
  { name: "control: the host's limit is enough", limits: {}, options: {}, code: null },
  { name: "no option raises it", limits: { fuelPolls: 20 }, options: { fuelPolls: 20_000 }, code: "FUEL_EXHAUSTED" },
  {
    name: "an option lowers it more",
    limits: { fuelPolls: 9_000 },
    options: { fuelPolls: 20 },
    code: "FUEL_EXHAUSTED",
  },
])("fuel: $name", async ({ limits, options, code }) => {
  const { result } = await under(limits, turn, options);
  expect(result.ok ? null : result.error.code).toBe(code);
});

test.for<{ name: string; memoryPages: number; pages: number; instances: "fresh" | "restored" }>([
  { name: "the policy's maximum", memoryPages: 3, pages: 3, instances: "restored" },
  { name: "the policy's maximum in an instance of its own", memoryPages: 2, pages: 2, instances: "fresh" },
  { name: "the plugin's own maximum, which the policy does not raise", memoryPages: 512, pages: 4, instances: "fresh" },
])("a guest's memory grows up to $name", async ({ memoryPages, pages, instances }) => {
  using own = temporaryFolder();
  const policy = policyFor([grower], { memoryPages });
  const options = { dataDir: own.path, plugins: [grower], policy, threadsMax: 1, instances };
  await using runtime = await createRuntime(options);
  for (let call = 0; call < 3; call++) {
    expect(await runtime.call("GrowAndAnswer", {}, alice)).toMatchObject({ ok: true, data: pages });
  }
  expect(await runtime.call("GrowAndTrap", {}, alice)).toMatchObject({ ok: false, error: { code: "MEMORY_EXCEEDED" } });
});

test("a plugin whose memory cannot grow under the policy is refused", async () => {
  const policy = policyFor([grower], { memoryPages: 1 });
  await expect(createRuntime({ dataDir: folder.path, plugins: [grower], policy })).rejects.toMatchObject({
    code: "PLUGIN_REFUSED",
    message: expect.stringContaining("its memory is 1 pages at first, which must be fewer than the policy's 1 at last"),
  });
});

test("the policy bounds a call's input, and a longer one leaves nothing behind", async () => {
  const input = { action: "upsert", name: "a", type: "user", description: "d", body: "b" };
  const bytes = JSON.stringify(input).length;
  const call = (runtime: Runtime): Promise<ToolResult> => runtime.call("UpdateUserMemory", input, alice);
  const fitting = await under({ inputBytes: bytes }, call);
  expect(fitting.result).toMatchObject({ ok: true });
  const { result, files } = await under({ inputBytes: bytes - 1 }, call);
  expect(result).toMatchObject(refusal("INPUT_INVALID", `${bytes} bytes of JSON, allowed: at most ${bytes - 1} bytes`));
  expect(files).toEqual({});
});

test("the policy bounds a call's capability requests, and one more drops all writes of the call", async () => {
  const written = step("store_write", { scope: "memory", path: "a.md", content: "x" });
  const call = (runtime: Runtime): Promise<ToolResult> =>
    runtime.call("Puppet", [written, step("clock_now", {}), step("clock_now", {})], alice);
  const fitting = await under({ hostCalls: 3 }, call);
  expect(fitting.result).toMatchObject({ ok: true });
  expect(fitting.files).toEqual({ "memory/a.md": "x" });
  const { result, files } = await under({ hostCalls: 2 }, call);
  expect(result).toMatchObject(refusal("CAPABILITY_DENIED", "this call has made 2 requests, the maximum"));
  expect(files).toEqual({});
});

test("the policy bounds the total size of a call's writes", async () => {
  const files = ["a", "b"].map((name) =>
    step("store_write", { scope: "memory", path: `${name}.md`, content: "12345" }),
  );
  const call = (runtime: Runtime): Promise<ToolResult> => runtime.call("Puppet", files, alice);
  const fitting = await under({ stagedBytes: 10 }, call);
  expect(Object.keys(fitting.files)).toEqual(["memory/a.md", "memory/b.md"]);
  const { result } = await under({ stagedBytes: 9 }, call);
  const [first, second] = result.ok ? (result.data as string[]) : [];
  expect(first).toBe('{"ok":true}');
  expect(JSON.parse(second ?? "")).toMatchObject(
    refusal("QUOTA_EXCEEDED", "this call would write 10 bytes, at most 9 allowed"),
  );
});

test("files that the host has staged do not count as what a call writes", async () => {
  const content = Buffer.from(`---\nname: a\ndescription: d\ntype: user\n---\n${"x".repeat(5_000)}`);
  const imported = [{ scope: "memory", path: "a.md", content }];
  const importUnder = async (stagedBytes: number): Promise<string[]> => {
    const dataDir = join(folder.path, `data-${++folders}`);
    const policy = policyFor([shippedPlugin("user-memory")], { stagedBytes });
    await using runtime = await createRuntime({ dataDir, plugins: ["user-memory"], policy, threadsMax: 1 });
    await runtime.upkeep.import(alice, imported);
    return Object.keys(readUserFiles(dataDir, "alice"));
  };
  // The plugin then writes its index, of a few bytes.
  expect(await importUnder(100)).toEqual(["memory/MEMORY.md", "memory/a.md"]);
  await expect(importUnder(5)).rejects.toMatchObject({ code: "QUOTA_EXCEEDED" });
});
