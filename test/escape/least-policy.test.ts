/** The shipped policy grants exactly what the shipped tools need: without any one part of it, a tool fails. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { createRuntime } from "memcell";
import type { PolicyFile, Runtime } from "memcell";
import { afterAll, expect, test } from "vitest";

import { loadPolicy } from "../../host/plugins/policy/load-policy.ts";
import { narrowPlugin } from "../../host/plugins/policy/narrow-plugin.ts";
import { policyFor } from "../support/policy-for.ts";
import { manifestOf, resealPlugin } from "../support/reseal-plugin.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { shippedNames, shippedPlugin } from "../support/test-plugin.ts";
import { lackings, withoutParts } from "./lacking-plugins.ts";
import type { Lacking, ToolPart } from "./lacking-plugins.ts";
import { policyData } from "./policy-data.ts";
import { storeUses } from "./store-uses.ts";
import type { Use } from "./store-uses.ts";

const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());

const file = new URL(import.meta.resolve("memcell/default-policy.json"));
const { lockFile, ...unlocked } = JSON.parse(readFileSync(file, "utf8")) as PolicyFile;
const alice = { userId: "alice" };

/** Each right and scope that the policy grants. */
const grants = Object.entries(unlocked.plugins).flatMap(([plugin, { tools }]) =>
  Object.entries(tools).flatMap(([tool, { rights, scopes }]) => {
    const ofRights = rights.map((part): ToolPart => ({ plugin, tool, kind: "rights", part }));
    return ofRights.concat(scopes.map((part) => ({ plugin, tool, kind: "scopes", part })));
  }),
);

test("the shipped policy names only the shipped plugins, pins them, and does not change the limits", () => {
  expect(Object.keys(unlocked.plugins).toSorted()).toEqual(shippedNames());
  for (const [plugin, { tools }] of Object.entries(unlocked.plugins)) {
    const manifest = manifestOf(readFileSync(shippedPlugin(plugin)));
    expect(Object.keys(tools)).toEqual(manifest.tools.map(({ name }) => name));
  }
  expect(lockFile).toBe("../../../build/plugins.lock.json");
  expect(unlocked.limits).toBeUndefined();
});

test.for(grants)("without $part in the $kind of $tool, a strict policy refuses its plugin", async (grant) => {
  const { plugin, tool, kind, part } = grant;
  const policy: PolicyFile = { ...policyWithout(grant), strict: true };
  const creating = createRuntime({ dataDir: folder.path, plugins: [plugin], policy });
  const asking = `the tool "${tool}" asks for ${kind === "scopes" ? "the scope " : ""}"${part}", the policy grants`;
  await expect(creating).rejects.toMatchObject({
    code: "PLUGIN_REFUSED",
    message: expect.stringContaining(asking),
  });
});

test.for(grants)("without $part in the $kind of $tool, it is not available, and all others are", async (grant) => {
  const { plugin, tool, kind, part } = grant;
  const policy = await loadPolicy(policyWithout(grant));
  for (const name of shippedNames()) {
    const manifest = manifestOf(readFileSync(shippedPlugin(name)));
    const left = manifest.tools.flatMap((each) => {
      if (name !== plugin || each.name !== tool) return [each.name];
      const isLeft = kind === "rights" && each.commands?.some(({ rights }) => !rights.some((right) => right === part));
      return isLeft === true ? [each.name] : [];
    });
    const narrowed = narrowPlugin(manifest, policy);
    expect(narrowed.tools.map((each) => each.name)).toEqual(left);
    expect(narrowed.tools.find((each) => each.name === tool)?.rights ?? []).not.toContain(
      name === plugin && kind === "rights" ? part : "",
    );
    expect(narrowed.narrowings).toHaveLength(name === plugin ? 1 : 0);
  }
});

function policyWithout({ plugin, tool, kind, part }: ToolPart): PolicyFile {
  const policy = structuredClone(unlocked) as unknown as ChangeablePolicy;
  const granted = policy.plugins[plugin]?.tools[tool];
  if (!granted) throw new Error("The policy does not name the tool");
  granted[kind] = granted[kind].filter((each) => each !== part);
  return policy as unknown as PolicyFile;
}

test("control: with the whole policy the shipped plugins load, and each tool's requests are allowed", async () => {
  await using runtime = await createRuntime({
    dataDir: policyData(join(folder.path, "data-control")),
    plugins: shippedNames(),
    policy: unlocked,
    threadsMax: 1,
  });
  for (const steps of Object.values(uses)) expect(await denialsIn(steps(runtime))).toEqual([]);
  for (const steps of Object.values(storeUses)) expect(await denialsOf(runtime, steps)).toEqual([]);
});

/** The runtime of the plugin that the tests of its parts share, one after the other. */
let opened: { readonly lacking: Lacking; readonly runtime: Runtime } | null = null;
afterAll(() => opened?.runtime.close());

async function runtimeWithout(lacking: Lacking): Promise<Runtime> {
  if (opened?.lacking === lacking) return opened.runtime;
  await opened?.runtime.close();
  const id = lackings.indexOf(lacking);
  const shipped = readFileSync(shippedPlugin(lacking[0]?.plugin ?? ""));
  const plugins = [join(folder.path, `${id}.wasm`)];
  writeFileSync(plugins[0] ?? "", resealPlugin(shipped, withoutParts(manifestOf(shipped), lacking)));
  const dataDir = policyData(join(folder.path, `data-${id}`));
  const runtime = await createRuntime({ dataDir, plugins, policy: policyFor(plugins), threadsMax: 1 });
  opened = { lacking, runtime };
  return runtime;
}

const needs = lackings.flatMap((lacking) => lacking.map((need) => ({ ...need, lacking })));
test.for(needs)("$title really uses $part of its $kind", async ({ tool, part, title, lacking }) => {
  const runtime = await runtimeWithout(lacking);
  const denials = [
    ...(await denialsIn(uses[tool]?.(runtime) ?? [])),
    ...(await denialsOf(runtime, storeUses[title] ?? [])),
  ];
  const denied = part === "search" ? 'scope "store:' : `not granted "${part}"|scope "${part}"`;
  expect(denials).toContainEqual(expect.stringMatching(new RegExp(denied)));
});

interface ChangeablePolicy {
  plugins: Record<string, { tools: Record<string, { rights: string[]; scopes: string[] }> }>;
}

const entry = { type: "user", description: "d", body: "b" };

/** Uses of each tool that need its rights. Each step resolves to its error messages. */
const uses: Record<string, (runtime: Runtime) => (() => Promise<string[]>)[]> = {
  UpdateUserMemory: (runtime) => [
    () => called(runtime, "UpdateUserMemory", { action: "upsert", name: "new", ...entry }),
    () => called(runtime, "UpdateUserMemory", { action: "delete", name: "old" }),
  ],
  ReadUserMemory: (runtime) => [() => called(runtime, "ReadUserMemory", { name: "kept" })],
  SearchUserMemory: (runtime) => [() => called(runtime, "SearchUserMemory", { query: "text" })],
  PromptIndex: (runtime) => [() => asHost(runtime, "PromptIndex", {})],
  ListEntries: (runtime) => [() => asHost(runtime, "ListEntries", {})],
  InspectMemory: (runtime) => [
    () => asHost(runtime, "InspectMemory", { mend: false }),
    () => asHost(runtime, "InspectMemory", { mend: true }),
  ],
  RestoreEntry: (runtime) => [() => asHost(runtime, "RestoreEntry", { trashed: "trash/gone.20260102T030405000Z.md" })],
  JournalIndex: (runtime) => [() => asHost(runtime, "JournalIndex", {})],
  JournalEntries: (runtime) => [() => asHost(runtime, "JournalEntries", {})],
  ReadJournalEntry: (runtime) => [() => asHost(runtime, "ReadJournalEntry", { name: "kept" })],
  InspectJournal: (runtime) => [() => asHost(runtime, "InspectJournal", { mend: false })],
  memory_write: (runtime) => [() => called(runtime, "memory_write", { key: "new", content: "b" })],
  memory_update: (runtime) => [
    () => called(runtime, "memory_update", { key: "kept", content: "b" }),
    () => called(runtime, "memory_update", { key: "torn", content: "b" }),
  ],
  memory_read: (runtime) => [() => called(runtime, "memory_read", { key: "kept" })],
  memory_search: (runtime) => [() => called(runtime, "memory_search", { query: "b" })],
  ReadRunHistory: (runtime) => [() => called(runtime, "ReadRunHistory", run("kept"))],
  AppendRunEvents: (runtime) => [
    () => asHost(runtime, "AppendRunEvents", { ...run("new"), events: [noteEvent] }),
    () => asHost(runtime, "AppendRunEvents", { ...run("kept"), events: [noteEvent], appendId: "a" }),
  ],
  LoadRun: (runtime) => [() => asHost(runtime, "LoadRun", run("kept"))],
  ListRuns: (runtime) => [() => asHost(runtime, "ListRuns", {})],
  DeleteRun: (runtime) => [() => asHost(runtime, "DeleteRun", run("old"))],
  InspectRuns: (runtime) => [() => asHost(runtime, "InspectRuns", { mend: true })],
  RestoreRun: (runtime) => [
    () => asHost(runtime, "RestoreRun", { trashed: "trash/planner/gone/000001.20260102T030405000Z.jsonl" }),
  ],
};

const run = (runId: string): object => ({ agentId: "planner", runId });
const noteEvent = { type: "planner_note", data: '{"note":"n"}' };

async function called(runtime: Runtime, tool: string, input: object): Promise<string[]> {
  const result = await runtime.call(tool, input, alice);
  return result.ok ? [] : [result.error.message];
}

async function asHost(runtime: Runtime, tool: string, input: object): Promise<string[]> {
  const result = await runtime.callAsHost(tool, input, alice);
  return result.ok ? [] : [result.error.message];
}

const denialsOf = (runtime: Runtime, steps: readonly Use[]): Promise<string[]> =>
  denialsIn(steps.map((step) => () => step(runtime)));

async function denialsIn(steps: readonly (() => Promise<string[]>)[]): Promise<string[]> {
  const messages: string[] = [];
  for (const step of steps) messages.push(...(await step()));
  return messages;
}
