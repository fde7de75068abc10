/** Appends of programs: what is refused before or by the plugin, how it is told, and that an append can be repeated. */
import { plannerNoteData, RunHistory } from "memcell/run-history";
import type { GivenEvent } from "memcell/run-history";
import { expect, test } from "vitest";

import { note, useHistory } from "./stage.ts";

const newUser = useHistory();
const wrong = (value: unknown): GivenEvent => value as GivenEvent;
const plannerNote = (data: unknown): object => ({ type: "planner_note", data });
const toolCall = { type: "tool_call", data: { tool_call_id: "", tool_name: "", payload: "{" } };
const deep = JSON.parse(`${"[".repeat(64)}${"]".repeat(64)}`) as unknown;
const structured = (value: unknown): object => ({ type: "user_message", data: { structured: value } });
const another = { type: "thinking", data: plannerNoteData({ note: "" }) };

/** What is refused, and what is said about it. The plugin's vectors have more of its refusals. */
test.for<readonly [what: string, event: object, code: string, message: string]>([
  ["an unknown type", { ...note(), type: "tool_error" }, "INPUT_INVALID", '.type is "tool_error", allowed: "user_'],
  ["no timestamp", { ...note(), timestamp: "today" }, "INPUT_INVALID", '.timestamp is "today", allowed: a date'],
  ["labels that are no texts", { ...note(), labels: { a: 1 } }, "INPUT_INVALID", ".labels is an object, allowed: an"],
  ["no data", { type: "planner_note" }, "EVENT_DATA_NIL", "memory: planner_note data is nil"],
  ["a list as data", plannerNote([]), "EVENT_DATA_NOT_MAP", "must be map[string]any, got []interface {}"],
  ["a missing field", plannerNote({}), "EVENT_FIELD_MISSING", 'memory: planner_note missing "note"'],
  ["a field of another type", plannerNote({ note: 1 }), "EVENT_FIELD_INVALID", "must be string, got float64"],
  ["a payload that is no JSON", toolCall, "JSON_INVALID", "rawjson: invalid JSON"],
  [
    "what JSON cannot have",
    structured([undefined]),
    "INPUT_INVALID",
    "structured[0] is undefined, allowed: a JSON val",
  ],
  ["65 levels", structured(deep), "INPUT_INVALID", "nested deeper than 64 objects and arrays, allowed: a JSON value"],
  ["data of another type", another, "INPUT_INVALID", '.type is "thinking", allowed: "planner_note", the type of its'],
  ["too large an event", note("n".repeat(256 * 1024)), "INPUT_INVALID", "bytes, allowed: at most 262144 bytes"],
])("%s is refused, and nothing is stored", async ([, event, code, message]) => {
  const { history } = newUser();
  const failure = await history.append("agent", "run", [note(), wrong(event)]).then(String, (error: unknown) => error);
  expect(failure).toMatchObject({ name: "RunHistoryError", code, retryable: false });
  expect((failure as Error).message).toContain(message);
  const { issues } = failure as { issues: readonly { field: string; allowed: string }[] };
  expect(issues[0]?.field).toMatch(/^events\[1\]/);
  expect(issues[0]?.allowed).not.toBe("");
  expect((await history.load("agent", "run")).events).toEqual([]);
});

test("a batch that is too large is refused whole, and says why", async () => {
  const { history } = newUser();
  const large = note("n".repeat(200_000));
  await expect(history.append("agent", "large", [large, large, large])).rejects.toMatchObject({
    code: "INPUT_INVALID",
    message: expect.stringMatching(
      /: input is 600\d{3} bytes of JSON, allowed: at most 524288 bytes; the batch has 3 events and is stored whole/,
    ) as string,
  });
  await expect(history.append("agent", "large", Array<GivenEvent>(1_001).fill(note()))).rejects.toMatchObject({
    code: "INPUT_INVALID",
    message: expect.stringContaining("allowed: a list of at most 1000 events; the batch has 1001 events") as string,
  });
  expect((await history.load("agent", "large")).events).toEqual([]);
  expect(await history.append("agent", "large", Array<GivenEvent>(1_000).fill(note()))).toBe(1_000);
});

test("an append whose answer was lost can be repeated", async () => {
  const { call, through } = newUser();
  let lost = 0;
  const losing = through(async (tool, input, ctx) => {
    const answer = await call(tool, input, ctx);
    if (tool.endsWith("LoadRun") || lost++ > 0) return answer;
    throw new Error("the connection is gone");
  });
  const append = () => losing.append("agent", "lost", [note()], { appendId: "1" });
  await expect(append()).rejects.toThrow("the connection is gone");
  expect(await append()).toBe(1);
  expect((await losing.load("agent", "lost")).events).toHaveLength(1);
});

test("a failed call rejects with its code, and with whether it can be repeated", async () => {
  const { history, userId, call } = newUser();
  const cancelled = new RunHistory({ callAsHost: call }, { userId, signal: AbortSignal.abort() });
  const aborted = cancelled.append("agent", "run", [note()]);
  await expect(aborted).rejects.toMatchObject({ code: "CANCELLED", retryable: true });
  const nobody = new RunHistory({ callAsHost: call }, { userId: "" });
  await expect(nobody.load("agent", "run")).rejects.toMatchObject({ code: "USER_INVALID", of: undefined });
  await expect(history.loadSince("agent", "run", "1-1")).rejects.toMatchObject({
    code: "CURSOR_INVALID",
    of: "INPUT_INVALID",
    issues: [{ field: "cursor", value: '"1-1"' }],
  });
  const noAgent = { message: "agent id is required", code: "AGENT_ID_REQUIRED", of: "INPUT_INVALID" };
  await expect(history.append("", "", [note()])).rejects.toMatchObject(noAgent);
  await expect(history.load("", "")).rejects.toMatchObject(noAgent);
  await expect(history.load("agent", "")).rejects.toMatchObject({ code: "RUN_ID_REQUIRED" });
});

test("an append without events calls nothing and is no error, and a history needs a runtime", async () => {
  const { call, through } = newUser();
  const calls: string[] = [];
  const counting = through((tool, ...rest) => {
    calls.push(tool);
    return call(tool, ...rest);
  });
  expect(await counting.append("", "", [])).toBe(0);
  expect(calls).toEqual([]);
  const { agentId, runId, events } = await counting.load("agent", "none");
  expect({ agentId, runId, events }).toEqual({ agentId: "agent", runId: "none", events: [] });
  expect(calls).toEqual(["run-history/LoadRun"]);
  expect(() => new RunHistory(undefined as never, { userId: "alice" })).toThrow("client is required");
});
