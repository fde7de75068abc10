/** An agent that is started again continues where it was: in the same process, or in another one after a kill. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

import { RunHistory } from "memcell/run-history";
import { afterAll, expect, test } from "vitest";

import type { Model } from "./messages.ts";
import { playMovement } from "./movement.ts";
import { scriptedModel, upsert, use } from "./scripted-model.ts";
import type { ScriptedModel, ScriptedTurn } from "./scripted-model.ts";
import { movementNamed, openTheatre } from "./theatre.ts";

const plugins = ["run-history", "user-memory"];
let nowMs = Date.now;
const theatre = await openTheatre({ plugins, threadsMax: 1, clock: () => nowMs() });
afterAll(() => theatre[Symbol.asyncDispose]());

const play = (userId: string, movement: string, model: Model, signal?: AbortSignal): Promise<string> =>
  playMovement({ runtime: theatre.runtime, model }, movementNamed(movement), { userId, signal });
const calls = (userId: string): unknown[] =>
  theatre.calls(userId).flatMap(({ tool, callId, code }) => (tool === "UpdateUserMemory" ? [[callId, code]] : []));
async function eventTypes(userId: string): Promise<string[]> {
  const { events } = await new RunHistory(theatre.runtime, { userId }).load("planner", "journey");
  return events.map(({ type }) => type);
}

const noteSeat: ScriptedTurn = () => [upsert("call_1", "seat", "sits at the window")];
const task = "Plan the next one.";
const answeredTurn = ["assistant_message", "tool_call", "tool_result"];
const broken = new Error("the model is gone");

/** The model was asked once, for what follows the answered tool call. */
function expectAskedOnce({ requests }: ScriptedModel): void {
  expect(requests).toHaveLength(1);
  expect(requests[0]?.messages).toMatchObject([task, { toolUses: [{ id: "call_1" }] }, [{ isError: false }]]);
}

test("the next movement gets the turns of the one before, with the results of its tools", async () => {
  const first = scriptedModel(noteSeat, () => [use("call_2", "ReadUserMemory", { name: "seats" })]);
  expect(await play("next", "1", first.model)).toBe("done");
  const second = scriptedModel();
  await play("next", "2", second.model);
  const [request] = second.requests;
  const done = { text: "done", toolUses: [] };
  expect(request?.messages).toEqual([...(first.requests.at(-1)?.messages ?? []), done, task]);
  expect(request?.messages).toMatchObject([
    task,
    { toolUses: [{ id: "call_1", input: { name: "seat" } }] },
    [{ id: "call_1", isError: false }],
    { toolUses: [{ id: "call_2" }] },
    [{ id: "call_2", isError: true, content: expect.stringContaining("ENTRY_NOT_FOUND") as string }],
    done,
    task,
  ]);
  const ended = ["assistant_message", "user_message", "assistant_message"];
  expect(await eventTypes("next")).toEqual(["user_message", ...answeredTurn, ...answeredTurn, ...ended]);
  // A movement that has ended returns its last words, and asks no model.
  const again = scriptedModel(noteSeat);
  expect(await play("next", "1", again.model)).toBe("done");
  expect(again.requests).toEqual([]);
});

test("a tool call without a reply is made, and the model is not asked for it again", async () => {
  const controller = new AbortController();
  let tasks = 0;
  // The tool call takes the seventh reading: before it come the run, its task, the memory's index, and the turn.
  nowMs = () => {
    if (++tasks === 7) controller.abort(broken);
    return Date.now();
  };
  await expect(play("open", "1", scriptedModel(noteSeat).model, controller.signal)).rejects.toBe(broken);
  nowMs = Date.now;
  expect(await eventTypes("open")).toEqual(["user_message", "assistant_message", "tool_call"]);
  const second = scriptedModel(noteSeat);
  expect(await play("open", "1", second.model)).toBe("done");
  expectAskedOnce(second);
  expect(calls("open")).toEqual([
    ["call_1", "CANCELLED"],
    ["call_1", null],
  ]);
});

test("a long result is whole in its own movement, and cut in the next one", async () => {
  const input = { action: "upsert", name: "atlas", type: "reference", description: "d", body: "map ".repeat(12_000) };
  const first = scriptedModel(
    () => [use("call_1", "UpdateUserMemory", input)],
    () => [use("call_2", "ReadUserMemory", { name: "atlas" })],
  );
  await play("long", "1", first.model);
  expect(first.replies.at(-1)?.content.length).toBeGreaterThan(48_000);
  const second = scriptedModel();
  await play("long", "2", second.model);
  const content = expect.stringMatching(/map map .*… \[the rest is not kept\]$/) as string;
  expect(second.requests[0]?.messages[4]).toMatchObject([{ content }]);
});

test("a turn that broke off is not in the next movement's prompt", async () => {
  await expect(play("off", "1", () => Promise.reject(broken))).rejects.toBe(broken);
  const second = scriptedModel();
  await play("off", "2", second.model);
  expect(second.requests[0]?.messages).toEqual([task, task]);
});

test("a movement that is played twice at once is recorded once", async () => {
  await Promise.all([1, 2].map(() => play("twice", "1", scriptedModel(noteSeat).model)));
  expect(await eventTypes("twice")).toEqual(["user_message", ...answeredTurn, "assistant_message"]);
});

test("a process that is killed amid a movement is continued by another one", async () => {
  const script = fileURLToPath(new URL("../../dist/test/executor/waiting-agent.js", import.meta.url));
  const child = spawn(process.execPath, [script, theatre.dataDir], { stdio: ["ignore", "pipe", "inherit"] });
  const ended = once(child, "exit");
  const [output] = (await Promise.race([once(child.stdout, "data"), ended])) as [unknown];
  expect(String(output)).toBe("waiting\n");
  child.kill("SIGKILL");
  expect(await ended).toEqual([null, "SIGKILL"]);
  const second = scriptedModel(noteSeat);
  expect(await play("alice", "1", second.model)).toBe("done");
  expectAskedOnce(second);
  expect(second.requests[0]?.messages[1]).toMatchObject({ text: "I note it." });
  expect(second.requests[0]?.system).toContain("sits at the window");
  expect(calls("alice")).toEqual([]);
});
