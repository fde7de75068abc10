/** The owner approves a suggestion with a text of the owner's own. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { createRuntime } from "memcell";
import type { ToolResult } from "memcell";
import { expect, test } from "vitest";

import { entryText } from "../support/memory-files.ts";
import { trustingPolicy } from "../support/trusting-policy.ts";
import { waitingId } from "../support/waiting-id.ts";
import { alice, engines, honest, liveFiles, openUpkeep, poisoned, remove, upsert } from "./upkeep-stage.ts";
import type { UpkeepStage } from "./upkeep-stage.ts";

/** What comes from a page waits, also the events of runs. */
const policy = trustingPolicy({ active: "direct_user" });
const openWaiting = (engine: (typeof engines)[number] = "files"): Promise<UpkeepStage> =>
  openUpkeep(engine, { policy });

/** Another host, on the same files. */
async function openWaitingOn({ dataDir }: UpkeepStage) {
  const runtime = await createRuntime({ dataDir, policy, threadsMax: 1 });
  return { runtime, [Symbol.asyncDispose]: () => runtime.close() };
}

/** A call of each family that keeps entries, whose text is a page's, and a call that shows what was written. */
const families = {
  "user-memory": [
    ["UpdateUserMemory", upsert("menu", "Soup")],
    ["ReadUserMemory", { name: "menu" }],
  ],
  journal: [
    ["memory_write", { key: "menu", content: "Soup of the day" }],
    ["memory_search", { query: "of the day" }],
  ],
  stores: [
    ["memory", { command: "create", path: "/memories/menu.md", content: "Soup of the day" }],
    ["memory", { command: "search", query: "of the day" }],
  ],
} as const;

const inFamilies = engines.flatMap((engine) =>
  (Object.keys(families) as (keyof typeof families)[]).map((family) => [engine, family] as const),
);

/** The only text that a write has. */
async function textOf({ upkeep }: UpkeepStage, id: string): Promise<string> {
  const [file, ...others] = (await upkeep.showPending(alice, id)).files.filter(({ isDerived }) => !isDerived);
  expect(others).toEqual([]);
  return file?.text ?? "";
}

test.for(inFamilies)(
  "%s, %s: the owner's text is applied in its place, is the owner's, and the rest is made from it",
  async ([engine, family]) => {
    await using stage = await openWaiting(engine);
    const { upkeep, runtime } = stage;
    const [[tool, input], [shows, shown]] = families[family];
    const id = waitingId(await runtime.call(tool, input, poisoned));
    const text = (await textOf(stage, id)).replaceAll("Soup", "Bread");
    expect(text).toContain("Bread");
    expect(await upkeep.approve(alice, id, { text })).toMatchObject({ applied: true, write: { id } });
    const files = await liveFiles(stage);
    expect(Object.values(files)).toContain(text);
    expect(Object.values(files).join("\n")).not.toContain("Soup");
    const answer = JSON.stringify(await runtime.call(shows, shown, alice));
    expect(answer).toContain("Bread");
    expect(await upkeep.inspect(alice)).toEqual([]);
    const versions = await upkeep.history(alice);
    expect(versions.map(({ kind }) => kind)).toEqual(versions.map(() => "corrected"));
    const { run, source } = poisoned.origin ?? {};
    const facts = { class: "untrusted_document", trust: "owner_edit", run, source };
    expect(versions.filter(({ isDerived }) => !isDerived)).toMatchObject([facts]);
    expect(await upkeep.pending(alice)).toEqual([]);
    const late = { code: "ENTRY_NOT_FOUND", message: expect.stringContaining("was approved at") as string };
    await expect(upkeep.approve(alice, id, { text })).rejects.toMatchObject(late);
    await expect(upkeep.approve(alice, id)).rejects.toMatchObject(late);
    await expect(upkeep.reject(alice, id)).rejects.toMatchObject(late);
  },
);

test.for(engines)(
  "%s: an entry that was there is replaced by the owner's text, and the index follows",
  async (engine) => {
    await using stage = await openWaiting(engine);
    const { upkeep, runtime } = stage;
    await stage.write({ ctx: honest, input: upsert("menu", "Cake") }, { ctx: honest, input: upsert("tea", "Green") });
    const id = waitingId(await runtime.call("UpdateUserMemory", upsert("menu", "Soup"), poisoned));
    const text = (await textOf(stage, id)).replaceAll("Soup", "Bread");
    // What else is written meanwhile is in the index, too.
    await stage.write({ ctx: honest, input: upsert("bed", "Soft") });
    await upkeep.perform("approve", alice, { id, text });
    expect((await liveFiles(stage))["memory/menu.md"]).toBe(text);
    const index = await runtime.memoryIndex(alice, { family: "user-memory" });
    expect(index).toMatch(/\[menu\]\(menu\.md\) — says Bread\n.*says Green\n.*says Soft\n/);
    expect(await runtime.memoryEntries(alice)).toMatchObject([{ name: "menu" }, { name: "tea" }, { name: "bed" }]);
    expect((await runtime.memoryEntries(alice)).some(({ origins }) => origins !== undefined)).toBe(false);
  },
);

test("an approval raises the trust of what was shown, and not of an index that repeats other entries", async () => {
  await using stage = await openUpkeep("files");
  const { upkeep, runtime } = stage;
  await stage.write({ ctx: poisoned, input: upsert("page", "Soup") });
  const indexTrust = async () => (await upkeep.history(alice, { path: "MEMORY.md" })).map(({ trust }) => trust)[0];
  const before = await indexTrust();
  await using strict = await openWaitingOn(stage);
  for (const correct of [false, true]) {
    const id = waitingId(await strict.runtime.call("UpdateUserMemory", upsert(`menu-${correct}`, "Soup"), poisoned));
    const text = correct ? (await textOf(stage, id)).replaceAll("Soup", "Bread") : undefined;
    await strict.runtime.upkeep.approve(alice, id, { text });
    expect((await upkeep.entry(alice, `menu-${correct}`)).file.trust).toBe("owner_edit");
    expect(await indexTrust()).toBe(before);
  }
  expect(await runtime.memoryIndex(alice, { family: "user-memory" })).toContain("says Bread");
});

test("the same text is an approval like any other", async () => {
  await using stage = await openWaiting();
  const { upkeep, runtime } = stage;
  const id = waitingId(await runtime.call("UpdateUserMemory", upsert("menu", "Soup"), poisoned));
  await upkeep.approve(alice, id, { text: await textOf(stage, id) });
  expect(await upkeep.history(alice, { name: "menu" })).toMatchObject([{ kind: "approved" }]);
});

test("a text that is in memory already ends the waiting", async () => {
  await using stage = await openWaiting();
  const { upkeep, runtime } = stage;
  await stage.write({ ctx: honest, input: upsert("menu", "Cake") });
  await upkeep.edit(alice, "menu", (await upkeep.entry(alice, "menu")).text ?? "");
  const before = await liveFiles(stage);
  const id = waitingId(await runtime.call("UpdateUserMemory", upsert("menu", "Soup"), poisoned));
  await upkeep.approve(alice, id, { text: before["memory/menu.md"] });
  expect((await liveFiles(stage))["memory/menu.md"]).toBe(before["memory/menu.md"]);
  expect(await upkeep.pending(alice)).toEqual([]);
  await expect(upkeep.reject(alice, id)).rejects.toMatchObject({ code: "ENTRY_NOT_FOUND" });
});

test("a text that cannot be used changes nothing, and the suggestion waits on", async () => {
  await using stage = await openWaiting();
  const { upkeep, runtime } = stage;
  await stage.write({ ctx: honest, input: upsert("old", "Cake") });
  const before = await liveFiles(stage);
  const id = waitingId(await runtime.call("UpdateUserMemory", upsert("menu", "Soup"), poisoned));
  const text = await textOf(stage, id);
  const refused = async (other: string, code: string, ctx = alice) =>
    await expect(upkeep.approve(ctx, id, { text: other })).rejects.toMatchObject({ code });
  await refused("---\nname: [\n---\n", "ENTRY_UNREADABLE");
  await refused(`${text}\ud800`, "INPUT_INVALID");
  await refused("x".repeat(2 ** 21 + 1), "QUOTA_EXCEEDED");
  await refused(`${text}.`, "WRITE_REFUSED", poisoned);
  expect(() => upkeep.approve(alice, id, { text: 7 } as never)).toThrow(TypeError);
  await expect(runtime.asReadOnly().upkeep.approve(alice, id, { text })).rejects.toMatchObject({ code: "READ_ONLY" });
  expect(await liveFiles(stage)).toEqual(before);
  expect(await upkeep.pending(alice)).toMatchObject([{ id }]);
});

test("what writes no text, or several, is not corrected, and is told why", async () => {
  await using stage = await openWaiting();
  const { upkeep, runtime } = stage;
  await stage.write({ ctx: honest, input: upsert("menu", "Cake") });
  const event = { type: "user_message", timestamp: "2026-01-01T10:00:00Z", data: '{"message":"Soup"}' };
  const calls: readonly (readonly [Promise<ToolResult>, count: string])[] = [
    [runtime.call("UpdateUserMemory", remove("menu"), poisoned), "0 files"],
    [runtime.callAsHost("AppendRunEvents", { agentId: "a", runId: "r", events: [event] }, poisoned), "2 files"],
  ];
  for (const [call, count] of calls) {
    const id = waitingId(await call);
    const message = expect.stringContaining(
      `it writes ${count}; expected one with a text; approve it as it is`,
    ) as string;
    await expect(upkeep.approve(alice, id, { text: "x" })).rejects.toMatchObject({ code: "INPUT_INVALID", message });
    expect(await upkeep.approve(alice, id)).toMatchObject({ applied: true });
  }
});

test("if the files have changed since, the owner's text is not applied, and the suggestion waits again", async () => {
  await using stage = await openWaiting();
  const { upkeep, runtime } = stage;
  await stage.write({ ctx: honest, input: upsert("menu", "Cake") });
  const id = waitingId(await runtime.call("UpdateUserMemory", upsert("menu", "Soup"), poisoned));
  const text = `${await textOf(stage, id)}.`;
  const byHand = entryText("menu", "by hand");
  writeFileSync(join(stage.home(), "memory/menu.md"), byHand);
  const again = await upkeep.approve(alice, id, { text });
  expect(again.applied).toBe(false);
  expect((await liveFiles(stage))["memory/menu.md"]).toBe(byHand);
  const moved = { code: "ENTRY_NOT_FOUND", message: expect.stringContaining(`waits as "${again.write.id}"`) as string };
  await expect(upkeep.approve(alice, id, { text })).rejects.toMatchObject(moved);
  await upkeep.approve(alice, again.write.id, { text });
  expect((await liveFiles(stage))["memory/menu.md"]).toBe(text);
});
