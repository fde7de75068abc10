/** Movements of agents with a memory, from a new user's first one: what the model gets, and what is recorded. */
import { readFileSync } from "node:fs";

import { afterAll, expect, test } from "vitest";

import { playMovement } from "./movement.ts";
import { scriptedModel, upsert, use } from "./scripted-model.ts";
import type { ScriptedModel } from "./scripted-model.ts";
import { contentOf, movementNamed, openTheatre } from "./theatre.ts";

const theatre = await openTheatre();
afterAll(() => theatre[Symbol.asyncDispose]());
const { play, runtime } = theatre;

const systemOf = ({ requests }: ScriptedModel): string => requests[0]?.system ?? "";
/** The tools that make the part of a prompt that memory has. */
const indexes = ["JournalIndex", "MemoryKeys", "PromptIndex"];
const remove = (id: string, name: string) => use(id, "UpdateUserMemory", { action: "delete", name });

/** The prompt's index lines, without the frame. */
function framedIn(system: string): string[] {
  const parts = system.split(/^<\/?user_memory_index>$/m);
  expect(parts).toHaveLength(3);
  return parts[1]?.trim().split("\n").slice(1) ?? [];
}

test("one movement after the other: written, shown, read, corrected, deleted, no longer shown", async () => {
  expect(systemOf(await play("alice", "1"))).toBe("You plan journeys.\n");
  expect(theatre.filesOf("alice")).toEqual({});

  const second = await play("alice", "2", () => [upsert("toolu_01", "seat", "sits at the window")]);
  expect(contentOf(second.replies[0])).toMatchObject({ name: "seat", outcome: "created" });

  const third = await play(
    "alice",
    "3",
    () => [use("toolu_02", "ReadUserMemory", { name: "seat" })],
    () => [use("toolu_03", "ReadUserMemory", { name: "seats" })],
    // The model reads the error and corrects itself.
    ([reply]) => [upsert("toolu_04", "diet", reply?.isError ? "eats no meat" : "")],
  );
  expect(framedIn(systemOf(third))).toEqual(["- [seat](seat.md) — sits at the window"]);
  const [read, wrong, mended] = third.replies;
  expect(read?.content).toContain('"origins":"Origin of seat: model_inference, ');
  expect(contentOf(read)).toMatchObject({ name: "seat", body: "All about seat." });
  expect(contentOf(wrong)).toMatchObject({ code: "ENTRY_NOT_FOUND", blame: "caller", retryable: false });
  expect([wrong?.isError, mended?.isError]).toEqual([true, false]);

  const fourth = await play("alice", "4", () => [remove("toolu_05", "seat"), remove("toolu_06", "diet")]);
  expect(framedIn(systemOf(fourth))).toHaveLength(2);
  expect(fourth.replies).toMatchObject([{ id: "toolu_05", isError: false }, { id: "toolu_06" }]);
  expect(systemOf(await play("alice", "5"))).toBe("You plan journeys.\n");

  const calls = theatre.calls("alice").map(({ tool, callId, labels, code }) => {
    expect(labels?.["agent"]).toBe("planner");
    return [labels?.["movement"], tool, indexes.includes(tool ?? "") ? null : callId, code].join(" ");
  });
  const ofModel: Readonly<Record<string, readonly string[]>> = {
    "2": ["UpdateUserMemory toolu_01 "],
    "3": ["ReadUserMemory toolu_02 ", "ReadUserMemory toolu_03 ENTRY_NOT_FOUND", "UpdateUserMemory toolu_04 "],
    "4": ["UpdateUserMemory toolu_05 ", "UpdateUserMemory toolu_06 "],
  };
  expect(calls).toEqual(
    ["1", "2", "3", "4", "5"].flatMap((at) =>
      [...indexes.map((tool) => `${tool}  `), ...(ofModel[at] ?? [])].map((call) => `${at} ${call}`),
    ),
  );
});

test("answers what is wrong instead of throwing: an input with each field, an unknown tool, id or page", async () => {
  const { replies } = await play("bob", "1", () => [
    upsert("call_1", "my seat", "sits at the window"),
    use("call_2", "PromptIndex", {}),
    use("call_3", "rm -rf", {}),
    use("call\n4", "ReadUserMemory", { name: "a" }),
    use("call_5", "describe_tool", { name: "PromptIndex" }),
    use("call_6", "describe_tool", null),
    use("call_7", "describe_tool", { name: "UpdateUserMemory" }),
  ]);
  const page = runtime.documentation("UpdateUserMemory");
  expect(page).toContain("UpdateUserMemory");
  const unknown = { code: "TOOL_UNKNOWN" };
  expect(replies.map(contentOf)).toMatchObject([
    { code: "INPUT_INVALID", issues: [{ field: "name", value: '"my seat"' }] },
    unknown,
    unknown,
    { code: "INPUT_INVALID" },
    unknown,
    unknown,
    { page },
  ]);
});

test("a movement whose signal is already aborted calls no model, and a model that never ends is stopped", async () => {
  const script = scriptedModel();
  const aborted = { userId: "carol", signal: AbortSignal.abort() };
  const playing = playMovement({ runtime, model: script.model }, movementNamed("1"), aborted);
  await expect(playing).rejects.toMatchObject({ code: "CANCELLED" });
  expect(script.requests).toEqual([]);
  const again = use("call", "ReadUserMemory", { name: "a" });
  const model = () => Promise.resolve({ text: "", toolUses: [again] });
  const endless = playMovement({ runtime, model }, movementNamed("2"), { userId: "carol" });
  await expect(endless).rejects.toThrow("has not ended");
});

const write = (userId: string, at: number) => () => [
  upsert(`${userId}-${at}`, `${userId}-fact-${at}`, `what ${userId} likes`),
];
const readOf = (other: string) => () => [use("read", "ReadUserMemory", { name: `${other}-fact-1` })];

test("simultaneous movements of two users never get each other's data", async () => {
  const users = ["dora", "emil"];
  const scripts = await Promise.all(
    users.map(async (userId, at) => {
      const other = users[1 - at] ?? "";
      const first = await play(userId, "1", write(userId, 1), write(userId, 2), readOf(other));
      return [first, await play(userId, "2", readOf(other))];
    }),
  );
  for (const [at, [first, second]] of scripts.entries()) {
    const [own = "", other = ""] = at === 0 ? users : users.toReversed();
    const all = JSON.stringify([first?.requests, second?.requests]);
    expect(all).toContain(`what ${own} likes`);
    expect(all).not.toContain(`what ${other} likes`);
    for (const reply of [first?.replies.at(-1), second?.replies[0]])
      expect(contentOf(reply)).toMatchObject({ code: "ENTRY_NOT_FOUND" });
    expect(Object.keys(theatre.filesOf(own)).join()).not.toContain(other);
  }
});

test("the adapter imports only the package's public API", () => {
  const names = ["movement", "messages", "played-movements", "run-record", "origins", "own-tools"];
  const files = names.map((name) => `${name}.ts`);
  const allowed = new Set(["memcell", "memcell/run-history", ...files.map((file) => `./${file}`)]);
  for (const file of files) {
    const imports = readFileSync(new URL(file, import.meta.url), "utf8").matchAll(/ from "([^"]+)";/g);
    expect(Array.from(imports, ([, from = ""]) => from).filter((from) => !allowed.has(from))).toEqual([]);
  }
});
