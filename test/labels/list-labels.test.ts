/** Lists of entries say where an entry comes from, and lists for models leave out what no prompt may have. */
import { originLines } from "memcell";
import type { MemoryEntry } from "memcell";
import { expect, test } from "vitest";

import { clientKinds, connect } from "../stage/mcp-clients.ts";
import { shippedFlags } from "../support/test-plugin.ts";
import { alice, day, engines, from, openLabelStage, policyWithPrompt } from "./label-stage.ts";
import { openListedFolder } from "./listed-folder.ts";

const told = ({ name, origins = [] }: MemoryEntry): string =>
  [name, ...origins.map((origin) => `${origin.name} ${origin.trust}`)].join(": ");

test.for(engines)("%s: each family's list has the origins of what is not the user's own", async (engine) => {
  await using stage = await openLabelStage(engine);
  const { call, remember, runtime } = stage;
  const listed = async (family: string): Promise<string[]> =>
    (await runtime.memoryEntries(alice, { family })).map(told).toSorted();
  await remember("editor", "direct_user");
  await remember("menu", "tool_external");
  expect(await listed("user-memory")).toEqual(["editor", "menu: menu tool_external"]);
  // A day has one file, so each of its keys can be anybody's.
  await call("memory_write", { key: "k", content: "x" }, from("direct_user"));
  await call("memory_write", { key: "d", content: "x" }, from("tool_external"));
  expect(await listed("journal")).toEqual(["d: 2026/11/20.md tool_external", "k: 2026/11/20.md tool_external"]);
  await call("memory", { command: "create", path: "/memories/page.md", content: "x" }, from("tool_external"));
  await call("memory", { command: "create", path: "/memories/own.md", content: "x" }, from("direct_user"));
  expect(await listed("stores")).toEqual(["own.md", "page.md: page.md tool_external"]);
  const events = [{ type: "planner_note", data: '{"note":"x"}' }];
  await call("run-history/AppendRunEvents", { agentId: "a", runId: "r", events }, from("tool_external"));
  await call("run-history/AppendRunEvents", { agentId: "b", runId: "r", events }, from("direct_user"));
  expect(await listed("run-history")).toEqual(["a/r: a/r tool_external", "b/r"]);
  const result = await call("user-memory/ListEntries", {});
  expect(originLines(result.origins)).toMatch(/^Origin of menu: tool_external, /);
});

test.for(engines)(
  "%s: a list for models leaves out what no prompt may have, one for people does not",
  async (engine) => {
    await using stage = await openLabelStage(engine, policyWithPrompt("tool_internal"));
    const { call, remember, runtime, callsOf } = stage;
    await remember("editor", "direct_user");
    await remember("guess", "model_inference");
    await remember("menu", "tool_external");
    await call("memory_write", { key: "k", content: "secret", target: "summary" }, from("tool_external"));
    await call("memory", { command: "create", path: "/memories/page.md", content: "x" }, from("tool_external"));
    await call("memory", { command: "create", path: "/memories/own.md", content: "x" }, from("direct_user"));
    const forPrompt = async (): Promise<string[]> =>
      (await runtime.memoryEntries(alice, { forPrompt: true })).map(told).toSorted();
    expect(await forPrompt()).toEqual(["editor", "guess: guess model_inference", "own.md"]);
    const all = (await runtime.memoryEntries(alice)).map(({ name }) => name);
    expect(all).toEqual(expect.arrayContaining(["editor", "guess", "menu", "k", "own.md", "page.md"]));
    expect((await callsOf(forPrompt)).filter((tool) => tool !== "ListEntries")).not.toContain("InspectMemory");
  },
);

test("a list does not lower the trust of the run that asks for it", async () => {
  await using stage = await openLabelStage();
  const { call, remember, runtime } = stage;
  await remember("menu", "tool_external");
  const ctx = { ...alice, origin: { class: "direct_user", run: "r" } } as const;
  await runtime.memoryEntries(ctx);
  await call("UpdateUserMemory", { action: "upsert", name: "own", type: "user", description: "x", body: "x" }, ctx);
  expect(await stage.labels("user-memory")).toEqual([`Origin: menu (tool_external, ${day})`]);
});

test.for(clientKinds)(
  "%s: the list of resources is labelled, and has nothing that no prompt may have",
  async (kind) => {
    using listed = await openListedFolder();
    const flags = ["--user", "alice", "--data", listed.path, "--policy", listed.policyFile, ...shippedFlags()];
    await using served = await connect(kind, flags);
    const { client } = served;
    const { resources } = await client.listResources();
    const entries = resources.filter(({ uri }) => uri.includes("/entry/"));
    expect(entries.map(({ name }) => name).toSorted()).toEqual(["editor", "guess", "own.md"]);
    const guess = entries.find(({ name }) => name === "guess");
    expect(guess?.description).toMatch(/^about guess Origin: x\nOrigin: guess \(model_inference, \d{4}-\d\d-\d\d\)$/);
    expect(guess?._meta).toMatchObject({ "memcell/origins": [{ name: "guess", trust: "model_inference" }] });
    const editor = entries.find(({ name }) => name === "editor");
    expect(editor).toMatchObject({ description: "about editor" });
    expect(editor).not.toHaveProperty("_meta");
    const ref = { type: "ref/resource", uri: "memory://user-memory/entry/{name}" } as const;
    const { completion } = await client.complete({ ref, argument: { name: "name", value: "" } });
    expect(completion.values).toEqual(["editor", "guess"]);
    const { contents } = await client.readResource({ uri: "memory://user-memory/entry/menu" });
    expect(contents).toMatchObject([
      { text: "about menu" },
      { text: expect.stringMatching(/^Origin of menu: /) as string },
    ]);
    const found = await client.callTool({ name: "SearchUserMemory", arguments: { query: "menu" } });
    expect(JSON.stringify(found.content)).toContain("Origin of menu: tool_external, ");
  },
);
