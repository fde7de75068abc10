/** Appends: what is refused, and that an append can be repeated. */
import { newEvent, plannerNoteData, RunHistory, userMessageData } from "memcell/run-history";
import type { GivenEvent } from "memcell/run-history";
import { afterAll, beforeAll, expect, test } from "vitest";

import { openHistory } from "./open-history.ts";
import type { OpenHistory } from "./open-history.ts";

let open: OpenHistory;
let history: RunHistory;
beforeAll(async () => {
  open = await openHistory();
  ({ history } = open);
});
afterAll(async () => await open[Symbol.asyncDispose]());

const note = newEvent(undefined, plannerNoteData({ note: "n" }));
const wrong = (value: unknown): GivenEvent => value as GivenEvent;

interface Refusal {
  readonly what: string;
  readonly event: unknown;
  readonly code: string;
  readonly message: string;
}

const refused: readonly Refusal[] = [
  {
    what: "an unknown type",
    event: { ...note, type: "tool_error" },
    code: "INPUT_INVALID",
    message: 'events[1].type is "tool_error", allowed: "user_message"',
  },
  {
    what: "a timestamp that is none",
    event: { ...note, timestamp: "today" },
    code: "INPUT_INVALID",
    message: 'events[1].timestamp is "today", allowed: a date, or RFC 3339',
  },
  {
    what: "labels that are no texts",
    event: { ...note, labels: { a: 1 } },
    code: "INPUT_INVALID",
    message: "events[1].labels is an object, allowed: an object whose values are strings",
  },
  {
    what: "no data",
    event: { type: "planner_note" },
    code: "EVENT_DATA_NIL",
    message: "memory: planner_note data is nil",
  },
  {
    what: "a list as data",
    event: { type: "planner_note", data: [] },
    code: "EVENT_DATA_NOT_MAP",
    message: "memory: planner_note data must be map[string]any, got []interface {}",
  },
  {
    what: "a missing field",
    event: { type: "planner_note", data: {} },
    code: "EVENT_FIELD_MISSING",
    message: 'memory: planner_note missing "note"',
  },
  {
    what: "a field of another type",
    event: { type: "planner_note", data: { note: 1 } },
    code: "EVENT_FIELD_INVALID",
    message: 'memory: planner_note field "note" must be string, got float64',
  },
  {
    what: "a payload that is no JSON",
    event: { type: "tool_call", data: { tool_call_id: "", tool_name: "", payload: "{" } },
    code: "JSON_INVALID",
    message: "rawjson: invalid JSON",
  },
  {
    what: "a payload of two values",
    event: { type: "tool_call", data: { tool_call_id: "", tool_name: "", payload: "{} {}" } },
    code: "JSON_TRAILING_DATA",
    message: "rawjson: trailing data",
  },
  {
    what: "data that JSON cannot have",
    event: { type: "user_message", data: { structured: { list: [undefined] } } },
    code: "INPUT_INVALID",
    message: "events[1].data.structured.list[0] is undefined, allowed: a JSON value",
  },
  {
    what: "data of another type",
    event: { type: "thinking", data: plannerNoteData({ note: "" }) },
    code: "INPUT_INVALID",
    message: 'events[1].type is "thinking", allowed: "planner_note", the type of its data',
  },
  {
    what: "too large an event",
    event: newEvent(undefined, plannerNoteData({ note: "n".repeat(256 * 1024) })),
    code: "INPUT_INVALID",
    message: "bytes, allowed: at most 262144 bytes",
  },
];

test.for(refused)("$what is refused, and nothing is stored", async ({ what, event, code, message }) => {
  const failure = await history.append("agent", what, [note, wrong(event)]).then(String, (error: unknown) => error);
  expect(failure).toMatchObject({ name: "RunHistoryError", code, retryable: false });
  expect((failure as Error).message).toContain(message);
  const { issues } = failure as { issues: readonly { field: string; allowed: string }[] };
  expect(issues[0]?.field).toMatch(/^events\[1\]/);
  expect(issues[0]?.allowed).not.toBe("");
  expect((await history.load("agent", what)).events).toEqual([]);
});

test("a batch that is too large is refused whole, and says why", async () => {
  const large = newEvent(undefined, plannerNoteData({ note: "n".repeat(200_000) }));
  await expect(history.append("agent", "large", [large, large, large])).rejects.toMatchObject({
    code: "INPUT_INVALID",
    message: expect.stringMatching(
      /: input is 600\d{3} bytes of JSON, allowed: at most 524288 bytes; the batch has 3 events and is stored whole/,
    ) as string,
  });
  await expect(history.append("agent", "large", Array<GivenEvent>(1_001).fill(note))).rejects.toMatchObject({
    code: "INPUT_INVALID",
    message: expect.stringContaining("allowed: a list of at most 1000 events; the batch has 1001 events") as string,
  });
  expect((await history.load("agent", "large")).events).toEqual([]);
  expect(await history.append("agent", "large", Array<GivenEvent>(1_000).fill(note))).toBe(1_000);
});

test("an append with the same id stores nothing and answers as the first did, in its run only", async () => {
  const options = { appendId: "movement 1/turn 1" };
  expect(await history.append("agent", "repeated", [note, note], options)).toBe(2);
  expect(await history.append("agent", "repeated", [note], options)).toBe(2);
  expect(await history.append("agent", "repeated too", [note], options)).toBe(1);
  expect((await history.load("agent", "repeated")).events).toHaveLength(2);
  await expect(history.append("agent", "repeated", [note], { appendId: "" })).rejects.toMatchObject({
    code: "INPUT_INVALID",
    issues: [{ field: "appendId" }],
  });
});

test("an append whose answer was lost can be repeated", async () => {
  let lost = 0;
  const losing = new RunHistory(
    {
      callAsHost: async (tool, input, ctx) => {
        const answer = await open.runtime.callAsHost(tool, input, ctx);
        if (tool.endsWith("LoadRun") || lost++ > 0) return answer;
        throw new Error("the connection is gone");
      },
    },
    { userId: "alice" },
  );
  const append = () => losing.append("agent", "lost", [note], { appendId: "1" });
  await expect(append()).rejects.toThrow("the connection is gone");
  expect(await append()).toBe(1);
  expect((await losing.load("agent", "lost")).events).toHaveLength(1);
});

test("a failed call rejects with its code, and with whether it can be repeated", async () => {
  const cancelled = new RunHistory(open.runtime, { userId: "alice", signal: AbortSignal.abort() });
  await expect(cancelled.append("agent", "run", [note])).rejects.toMatchObject({ code: "CANCELLED", retryable: true });
  const nobody = new RunHistory(open.runtime, { userId: "" });
  await expect(nobody.load("agent", "run")).rejects.toMatchObject({ code: "USER_INVALID", of: undefined });
  await expect(history.loadSince("agent", "run", "1-1")).rejects.toMatchObject({
    code: "CURSOR_INVALID",
    of: "INPUT_INVALID",
    issues: [{ field: "cursor", value: '"1-1"' }],
  });
});

test("data whose JSON repeats a key is loaded with the last value, and costs no other event", async () => {
  const events = [{ type: "user_message", data: '{"message":"a","message":"b"}' }];
  const ids = { agentId: "agent", runId: "twice" };
  expect(await open.runtime.callAsHost("AppendRunEvents", { ...ids, events }, { userId: "alice" })).toMatchObject({
    ok: true,
  });
  await history.append("agent", "twice", [newEvent(undefined, userMessageData({ message: "c" }))]);
  expect((await history.load("agent", "twice")).events).toMatchObject([
    { data: { message: "b" } },
    { data: { message: "c" } },
  ]);
});

test("data of 64 levels can be stored and loaded", async () => {
  const nested = JSON.parse(`${"[".repeat(63)}${"]".repeat(63)}`) as unknown;
  await history.append("agent", "deep", [{ type: "user_message", data: { structured: nested } }]);
  expect((await history.load("agent", "deep")).events[0]?.data["structured"]).toEqual(nested);
  await expect(
    history.append("agent", "deep", [{ type: "user_message", data: { structured: [nested] } }]),
  ).rejects.toThrow("nested deeper than 64 objects and arrays, allowed: a JSON value");
});
