/** goa-ai's own tests of its package `memory`, with `memcell/run-history` and a real runtime. */
import {
  decodeThinkingData,
  decodeToolCallData,
  decodeToolResultData,
  LosslessNumber,
  newEvent,
  plannerNoteData,
  RunHistory,
  thinkingData,
  toolCallData,
  toolCallInput,
  toolResultData,
} from "memcell/run-history";
import type { Event } from "memcell/run-history";
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

const call = toolCallData({
  toolCallId: "tool-1",
  toolName: "svc.tool",
  parentToolCallId: "parent",
  payload: '{"q":1}',
  queue: "queue",
  expectedChildrenTotal: 2,
});
const result = toolResultData({
  toolCallId: "tool-1",
  toolName: "svc.tool",
  parentToolCallId: "parent",
  resultJson: '{"ok":true}',
  preview: "done",
  bounds: { returned: 1, total: 5, truncated: true, nextCursor: "next-page", refinementHint: "narrow it" },
  duration: 2_000_000_000n,
  errorMessage: "boom",
});
const thinking = thinkingData({
  text: "plan",
  signature: "sig",
  redacted: new TextEncoder().encode("opaque"),
  contentIndex: 3,
  final: true,
});

test("G1: an appended tool call is loaded", async () => {
  expect(await history.append("agent", "g1", [newEvent(undefined, call)])).toBe(1);
  const { events } = await history.load("agent", "g1");
  expect(events.map(({ type }) => type)).toEqual(["tool_call"]);
});

test("G2: changing a snapshot does not change the run", async () => {
  await history.append("agent", "g2", [newEvent(undefined, call)]);
  const snapshot = await history.load("agent", "g2");
  Object.assign(snapshot.events[0] ?? {}, { type: "thinking" });
  expect((await history.load("agent", "g2")).events[0]?.type).toBe("tool_call");
});

test("G3: a run that does not exist has no events, and its ids come back", async () => {
  const { agentId, runId, events, meta } = await history.load("agent", "none");
  expect({ agentId, runId, events }).toEqual({ agentId: "agent", runId: "none", events: [] });
  expect(meta).toMatchObject({ bytes: 0, segments: 0, damagedLines: 0 });
});

test("G4: an event without a timestamp has that of the append, and order, data and labels stay", async () => {
  const before = new Date().toISOString();
  const labels = { role: "user" };
  await history.append("agent", "g4", [
    newEvent("2024-01-01T12:00:00Z", call, labels),
    newEvent(undefined, plannerNoteData({ note: "n" })),
    newEvent(undefined, plannerNoteData({ note: "o" })),
  ]);
  const { events } = await history.load("agent", "g4");
  expect(events).toMatchObject([
    { type: "tool_call", timestamp: "2024-01-01T12:00:00Z", labels },
    { type: "planner_note", data: { note: "n" }, labels: {} },
    { type: "planner_note", data: { note: "o" } },
  ]);
  expect(Date.parse(events[1]?.timestamp ?? "")).toBeGreaterThanOrEqual(Date.parse(before));
  expect(events[2]?.timestamp).toBe(events[1]?.timestamp);
});

test("G5: empty ids are refused, the agent's first, by append and load", async () => {
  const event = newEvent(undefined, call);
  const noAgent = { name: "RunHistoryError", message: "agent id is required", code: "AGENT_ID_REQUIRED" };
  const noRun = { name: "RunHistoryError", message: "run id is required", code: "RUN_ID_REQUIRED" };
  await expect(history.append("", "", [event])).rejects.toMatchObject({ ...noAgent, of: "INPUT_INVALID" });
  await expect(history.append("agent", "", [event])).rejects.toMatchObject(noRun);
  await expect(history.load("", "")).rejects.toMatchObject(noAgent);
  await expect(history.load("agent", "")).rejects.toMatchObject(noRun);
  await expect(history.loadSince("", "", "1-0")).rejects.toMatchObject(noAgent);
});

test("G6: an append without events calls nothing and is no error", async () => {
  const calls: string[] = [];
  const counting = new RunHistory(
    {
      callAsHost: (tool, input, ctx) => {
        calls.push(tool);
        return open.runtime.callAsHost(tool, input, ctx);
      },
    },
    { userId: "alice" },
  );
  expect(await counting.append("", "", [])).toBe(0);
  expect(calls).toEqual([]);
  await counting.load("agent", "g6");
  expect(calls).toEqual(["run-history/LoadRun"]);
});

/** The event as it comes back from the run. */
async function stored(event: Event, runId: string): Promise<Event> {
  await history.append("agent", runId, [event]);
  const [found] = (await history.load("agent", runId)).events;
  if (!found) throw new Error("the run has no event");
  return found;
}

test.for([
  ["as it was made", (event: Event) => Promise.resolve(event)],
  ["written and read as JSON", (event: Event) => Promise.resolve(JSON.parse(JSON.stringify(event)) as Event)],
  ["stored and loaded", stored],
] as const)("G7 to G10: typed data is the same %s", async ([way, pass]) => {
  const found = decodeToolCallData(await pass(newEvent(undefined, call), `g7 ${way}`));
  expect(found).toEqual(call);
  expect(toolCallInput(found)).toEqual({ q: new LosslessNumber("1") });
  expect(decodeToolResultData(await pass(newEvent(undefined, result), `g8 ${way}`))).toEqual(result);
  expect(decodeThinkingData(await pass(newEvent(undefined, thinking), `g9 ${way}`))).toEqual(thinking);
});

test("G11: a tool call with an object as its payload, the older form", async () => {
  const data = { tool_call_id: "tool-1", tool_name: "svc.tool", payload: { q: new LosslessNumber("1") } };
  const event: Event = { type: "tool_call", timestamp: "", data, labels: {} };
  for (const each of [event, await stored(event, "g11")]) {
    expect(decodeToolCallData(each).payload).toBe('{"q":1}');
    expect(toolCallInput(decodeToolCallData(each))).toEqual({ q: new LosslessNumber("1") });
  }
});

test("G12: thinking with raw bytes, the older form", async () => {
  const data = { redacted: new TextEncoder().encode("opaque"), content_index: 0, final: false };
  const event: Event = { type: "thinking", timestamp: "", data, labels: {} };
  for (const each of [event, await stored(event, "g12")]) {
    expect(new TextDecoder().decode(decodeThinkingData(each).redacted)).toBe("opaque");
  }
  expect(data.redacted).toBeInstanceOf(Uint8Array);
});

test("G13: a history needs a runtime", () => {
  expect(() => new RunHistory(undefined as never, { userId: "alice" })).toThrow("client is required");
});
