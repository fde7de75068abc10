/** An agent that is started again, in another runtime or process, continues where it was. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { createRuntime } from "memcell";
import { RunHistory } from "memcell/run-history";
import type { Event } from "memcell/run-history";
import { expect, test } from "vitest";

import { readRecords } from "../stage/runtime.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import type { Model, ModelTurn } from "./messages.ts";
import { playMovement } from "./movement.ts";
import { scriptedModel, upsert, use } from "./scripted-model.ts";
import type { ScriptedTurn } from "./scripted-model.ts";
import { movementNamed } from "./theatre.ts";

interface PlayOptions {
  readonly signal?: AbortSignal;
  readonly clock?: () => number;
}

interface Agent extends Disposable {
  readonly dataDir: string;
  /** Plays a movement with a runtime of its own. */
  readonly play: (movement: string, model: Model, options?: PlayOptions) => Promise<string>;
  readonly events: () => Promise<readonly Event[]>;
  /** The tools that were called for the model, in order, with their codes. */
  readonly calls: () => unknown[];
}

const plugins = ["run-history", "user-memory"];

function newAgent(): Agent {
  const folder = temporaryFolder();
  const [dataDir, file] = [join(folder.path, "data"), join(folder.path, "log", "audit.jsonl")];
  const open = (clock = Date.now) => createRuntime({ dataDir, plugins, threadsMax: 1, auditLog: { file }, clock });
  return {
    dataDir,
    async play(movement, model, { signal, clock } = {}) {
      await using runtime = await open(clock);
      return await playMovement({ runtime, model }, movementNamed(movement), { userId: "alice", signal });
    },
    async events() {
      await using runtime = await open();
      return (await new RunHistory(runtime, { userId: "alice" }).load("planner", "journey")).events;
    },
    calls: () =>
      readRecords(file).flatMap((record) =>
        record.kind === "call" && record.tool === "UpdateUserMemory" ? [[record.callId, record.code]] : [],
      ),
    [Symbol.dispose]: () => folder[Symbol.dispose](),
  };
}

const noteSeat: ScriptedTurn = () => [upsert("call_1", "seat", "sits at the window")];
const task = "Plan the next one.";
const answeredTurn = ["assistant_message", "tool_call", "tool_result"];
const typesOf = (events: readonly Event[]): string[] => events.map(({ type }) => type);
const done: ModelTurn = { text: "done", toolUses: [] };

const broken = new Error("the model is gone");
const breakAt =
  (model: Model, turn: number): Model =>
  async (request) => {
    if (request.messages.filter((message) => typeof message !== "string").length === turn * 2) throw broken;
    return await model(request);
  };

test("the next movement gets the turns of the one before, with the results of its tools", async () => {
  using agent = newAgent();
  const first = scriptedModel(noteSeat, () => [use("call_2", "ReadUserMemory", { name: "seats" })]);
  expect(await agent.play("1", first.model)).toBe("done");
  const second = scriptedModel();
  await agent.play("2", second.model);
  const [request] = second.requests;
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
  expect(typesOf(await agent.events())).toEqual([
    "user_message",
    ...answeredTurn,
    ...answeredTurn,
    "assistant_message",
    "user_message",
    "assistant_message",
  ]);
});

test("a movement that broke off goes on at its next turn, and calls no tool again", async () => {
  using agent = newAgent();
  const first = scriptedModel(noteSeat);
  await expect(agent.play("1", breakAt(first.model, 1))).rejects.toBe(broken);
  const second = scriptedModel(noteSeat);
  expect(await agent.play("1", second.model)).toBe("done");
  expect(second.requests).toHaveLength(1);
  expect(second.requests[0]?.messages).toMatchObject([task, { toolUses: [{ id: "call_1" }] }, [{ isError: false }]]);
  expect(agent.calls()).toEqual([["call_1", null]]);
});

test("a tool call without a reply is made, and the model is not asked for it again", async () => {
  using agent = newAgent();
  const controller = new AbortController();
  let tasks = 0;
  // The tool call takes the seventh reading: before it come the run, its task, the memory's index, and the turn.
  const clock = (): number => {
    if (++tasks === 7) controller.abort(broken);
    return Date.now();
  };
  const first = scriptedModel(noteSeat);
  await expect(agent.play("1", first.model, { clock, signal: controller.signal })).rejects.toBe(broken);
  expect(typesOf(await agent.events())).toEqual(["user_message", "assistant_message", "tool_call"]);

  const second = scriptedModel(noteSeat);
  expect(await agent.play("1", second.model)).toBe("done");
  expect(second.requests).toHaveLength(1);
  expect(second.requests[0]?.messages).toMatchObject([task, { toolUses: [{ id: "call_1" }] }, [{ isError: false }]]);
  expect(agent.calls()).toEqual([
    ["call_1", "CANCELLED"],
    ["call_1", null],
  ]);
});

test("a long result is whole in its own movement, and cut in the next one", async () => {
  using agent = newAgent();
  const input = { action: "upsert", name: "atlas", type: "reference", description: "d", body: "map ".repeat(12_000) };
  const first = scriptedModel(
    () => [use("call_1", "UpdateUserMemory", input)],
    () => [use("call_2", "ReadUserMemory", { name: "atlas" })],
  );
  await agent.play("1", first.model);
  const second = scriptedModel();
  await agent.play("2", second.model);
  expect(first.replies.at(-1)?.content.length).toBeGreaterThan(48_000);
  const kept = JSON.parse(JSON.stringify(second.requests[0]?.messages[4])) as { content: string }[];
  expect(JSON.parse(kept[0]?.content ?? "")).toMatch(/map map .*… \[the rest is not kept\]$/);
});

test("a turn that broke off is not in the next movement's prompt", async () => {
  using agent = newAgent();
  await expect(agent.play("1", breakAt(scriptedModel(noteSeat).model, 0))).rejects.toBe(broken);
  const second = scriptedModel();
  await agent.play("2", second.model);
  expect(second.requests[0]?.messages).toEqual([task, task]);
});

test("a movement that has ended returns its last words, and asks no model", async () => {
  using agent = newAgent();
  await agent.play("1", scriptedModel(noteSeat).model);
  const again = scriptedModel(noteSeat);
  expect(await agent.play("1", again.model)).toBe("done");
  expect(again.requests).toEqual([]);
});

test("a movement that is played twice at once is recorded once", async () => {
  using agent = newAgent();
  const models = [scriptedModel(noteSeat), scriptedModel(noteSeat)];
  await Promise.all(models.map(({ model }) => agent.play("1", model)));
  expect(typesOf(await agent.events())).toEqual(["user_message", ...answeredTurn, "assistant_message"]);
});

test("a process that is killed amid a movement is continued by another one", async () => {
  using agent = newAgent();
  const script = fileURLToPath(new URL("../../dist/test/executor/waiting-agent.js", import.meta.url));
  const child = spawn(process.execPath, [script, agent.dataDir], { stdio: ["ignore", "pipe", "inherit"] });
  const ended = once(child, "exit");
  const [output] = (await Promise.race([once(child.stdout, "data"), ended])) as [unknown];
  expect(String(output)).toBe("waiting\n");
  child.kill("SIGKILL");
  expect(await ended).toEqual([null, "SIGKILL"]);

  const { model, requests } = scriptedModel(noteSeat);
  expect(await agent.play("1", model)).toBe("done");
  expect(requests).toHaveLength(1);
  expect(requests[0]?.messages).toMatchObject([
    task,
    { text: "I note it.", toolUses: [{ id: "call_1" }] },
    [{ id: "call_1", isError: false }],
  ]);
  expect(requests[0]?.system).toContain("sits at the window");
  expect(agent.calls()).toEqual([]);
});
