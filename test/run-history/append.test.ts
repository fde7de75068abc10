/** Appends: what is refused, what an event is stored with, and that an append can be repeated. */
import {
  decodeThinkingData,
  decodeToolCallData,
  newEvent,
  plannerNoteData,
  RunHistory,
  userMessageData,
} from "memcell/run-history";
import type { GivenEvent } from "memcell/run-history";
import { expect, test } from "vitest";

import { note, notesOf, useHistory } from "./stage.ts";

const newUser = useHistory();
const wrong = (value: unknown): GivenEvent => value as GivenEvent;
const plannerNote = (data: unknown): object => ({ type: "planner_note", data });
const toolCall = (payload: unknown): object => ({
  type: "tool_call",
  data: { tool_call_id: "", tool_name: "", payload },
});

/** What is refused, and the beginning of what is said about it. */
const refused: readonly (readonly [what: string, event: object, code: string, message: string])[] = [
  [
    "an unknown type",
    { ...note(), type: "tool_error" },
    "INPUT_INVALID",
    'events[1].type is "tool_error", allowed: "user_message"',
  ],
  [
    "a timestamp that is none",
    { ...note(), timestamp: "today" },
    "INPUT_INVALID",
    'events[1].timestamp is "today", allowed: a date, or RFC 3339',
  ],
  [
    "labels that are no texts",
    { ...note(), labels: { a: 1 } },
    "INPUT_INVALID",
    "events[1].labels is an object, allowed: an object whose values are strings",
  ],
  ["no data", { type: "planner_note" }, "EVENT_DATA_NIL", "memory: planner_note data is nil"],
  [
    "a list as data",
    plannerNote([]),
    "EVENT_DATA_NOT_MAP",
    "memory: planner_note data must be map[string]any, got []interface {}",
  ],
  ["a missing field", plannerNote({}), "EVENT_FIELD_MISSING", 'memory: planner_note missing "note"'],
  [
    "a field of another type",
    plannerNote({ note: 1 }),
    "EVENT_FIELD_INVALID",
    'memory: planner_note field "note" must be string, got float64',
  ],
  ["a payload that is no JSON", toolCall("{"), "JSON_INVALID", "rawjson: invalid JSON"],
  ["a payload of two values", toolCall("{} {}"), "JSON_TRAILING_DATA", "rawjson: trailing data"],
  [
    "data that JSON cannot have",
    { type: "user_message", data: { structured: { list: [undefined] } } },
    "INPUT_INVALID",
    "events[1].data.structured.list[0] is undefined, allowed: a JSON value",
  ],
  [
    "data of another type",
    { type: "thinking", data: plannerNoteData({ note: "" }) },
    "INPUT_INVALID",
    'events[1].type is "thinking", allowed: "planner_note", the type of its data',
  ],
  ["too large an event", note("n".repeat(256 * 1024)), "INPUT_INVALID", "bytes, allowed: at most 262144 bytes"],
];

test.for(refused)("%s is refused, and nothing is stored", async ([, event, code, message]) => {
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

test("an append with the same id stores nothing and answers as the first did, in its run only", async () => {
  const { history } = newUser();
  const options = { appendId: "movement 1/turn 1" };
  expect(await history.append("agent", "repeated", [note(), note()], options)).toBe(2);
  expect(await history.append("agent", "repeated", [note()], options)).toBe(2);
  expect(await history.append("agent", "repeated too", [note()], options)).toBe(1);
  expect((await history.load("agent", "repeated")).events).toHaveLength(2);
  await expect(history.append("agent", "repeated", [note()], { appendId: "" })).rejects.toMatchObject({
    code: "INPUT_INVALID",
    issues: [{ field: "appendId" }],
  });
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
  await expect(cancelled.append("agent", "run", [note()])).rejects.toMatchObject({
    code: "CANCELLED",
    retryable: true,
  });
  const nobody = new RunHistory({ callAsHost: call }, { userId: "" });
  await expect(nobody.load("agent", "run")).rejects.toMatchObject({ code: "USER_INVALID", of: undefined });
  await expect(history.loadSince("agent", "run", "1-1")).rejects.toMatchObject({
    code: "CURSOR_INVALID",
    of: "INPUT_INVALID",
    issues: [{ field: "cursor", value: '"1-1"' }],
  });
});

test("data whose JSON repeats a key is loaded with the last value, and costs no other event", async () => {
  const { history, userId, call } = newUser();
  const events = [{ type: "user_message", data: '{"message":"a","message":"b"}' }];
  const ids = { agentId: "agent", runId: "twice" };
  expect(await call("AppendRunEvents", { ...ids, events }, { userId })).toMatchObject({ ok: true });
  await history.append("agent", "twice", [newEvent(undefined, userMessageData({ message: "c" }))]);
  expect((await history.load("agent", "twice")).events).toMatchObject([
    { data: { message: "b" } },
    { data: { message: "c" } },
  ]);
});

test("data of 64 levels can be stored and loaded", async () => {
  const { history } = newUser();
  const nested = JSON.parse(`${"[".repeat(63)}${"]".repeat(63)}`) as unknown;
  await history.append("agent", "deep", [{ type: "user_message", data: { structured: nested } }]);
  expect((await history.load("agent", "deep")).events[0]?.data["structured"]).toEqual(nested);
  await expect(
    history.append("agent", "deep", [{ type: "user_message", data: { structured: [nested] } }]),
  ).rejects.toThrow("nested deeper than 64 objects and arrays, allowed: a JSON value");
});

test("an event without a timestamp has that of the append, and order, data and labels stay", async () => {
  const { history } = newUser();
  const before = new Date().toISOString();
  const labels = { role: "user" };
  const early = newEvent("2024-01-01T12:00:00Z", plannerNoteData({ note: "m" }), labels);
  await history.append("agent", "run", [early, note("n"), note("o")]);
  const { events } = await history.load("agent", "run");
  expect(notesOf({ events })).toEqual(["m", "n", "o"]);
  expect(events[0]).toMatchObject({ type: "planner_note", timestamp: "2024-01-01T12:00:00Z", labels });
  expect(events[1]?.labels).toEqual({});
  expect(Date.parse(events[1]?.timestamp ?? "")).toBeGreaterThanOrEqual(Date.parse(before));
  expect(events[2]?.timestamp).toBe(events[1]?.timestamp);
});

test("empty ids are refused, the agent's first, by append and load", async () => {
  const { history } = newUser();
  const noAgent = { name: "RunHistoryError", message: "agent id is required", code: "AGENT_ID_REQUIRED" };
  const noRun = { name: "RunHistoryError", message: "run id is required", code: "RUN_ID_REQUIRED" };
  await expect(history.append("", "", [note()])).rejects.toMatchObject({ ...noAgent, of: "INPUT_INVALID" });
  await expect(history.append("agent", "", [note()])).rejects.toMatchObject(noRun);
  await expect(history.load("", "")).rejects.toMatchObject(noAgent);
  await expect(history.load("agent", "")).rejects.toMatchObject(noRun);
  await expect(history.loadSince("", "", "1-0")).rejects.toMatchObject(noAgent);
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
  const { agentId, runId, events, meta } = await counting.load("agent", "none");
  expect({ agentId, runId, events }).toEqual({ agentId: "agent", runId: "none", events: [] });
  expect(meta).toMatchObject({ bytes: 0, segments: 0, damagedLines: 0 });
  expect(calls).toEqual(["run-history/LoadRun"]);
  expect(() => new RunHistory(undefined as never, { userId: "alice" })).toThrow("client is required");
});

test("goa-ai's older forms, a payload that is an object and thinking with raw bytes, can be stored", async () => {
  const { history } = newUser();
  const older = [
    { type: "tool_call", data: { tool_call_id: "c", tool_name: "t", payload: { q: 1 } } },
    { type: "thinking", data: { redacted: new TextEncoder().encode("opaque"), content_index: 0, final: false } },
  ] as const;
  await history.append("agent", "older", older);
  const [call, thinking] = (await history.load("agent", "older")).events;
  if (!call || !thinking) throw new Error("the run has no events");
  expect(decodeToolCallData(call).payload).toBe('{"q":1}');
  expect(new TextDecoder().decode(decodeThinkingData(thinking).redacted)).toBe("opaque");
});
