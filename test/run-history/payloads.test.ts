/** Payloads as programs make them: what is left out, what is refused, and exact numbers and times. */
import {
  decodeToolCallData,
  decodeUserMessageData,
  LosslessNumber,
  newEvent,
  plannerNoteData,
  thinkingData,
  toolCallData,
  toolCallInput,
  toolResultData,
  userMessageData,
} from "memcell/run-history";
import { expect, test } from "vitest";

import { faultOf } from "./stage.ts";

const ids = { tool_call_id: "c", tool_name: "t" };

test("data can be what a constructor returned, and is copied", () => {
  const data = userMessageData({ message: "a", structured: { list: [1] } });
  const found = decodeUserMessageData({ type: "user_message", data });
  expect(found).toEqual(data);
  expect(found.structured).not.toBe(data.structured);
  expect(faultOf(() => decodeToolCallData({ type: "tool_call", data })).message).toBe(
    "memory: tool_call data must be map[string]any, got TypedData",
  );
});

test("toMap leaves out what has no value, where goa-ai does", () => {
  expect(userMessageData({ message: "" }).toMap()).toEqual({});
  expect(userMessageData({ message: "", structured: null }).toMap()).toEqual({});
  expect(userMessageData({ message: "", structured: 0 }).toMap()).toEqual({ structured: 0 });
  expect(toolCallData({ toolCallId: "", toolName: "" }).toMap()).toEqual({ tool_call_id: "", tool_name: "" });
  const empty = { parentToolCallId: "", payload: "", queue: "", expectedChildrenTotal: 0 };
  expect(toolCallData({ toolCallId: "c", toolName: "t", ...empty }).toMap()).toEqual(ids);
  expect(toolResultData({ toolCallId: "c", toolName: "t", duration: 0n, errorMessage: "" }).toMap()).toEqual(ids);
  expect(plannerNoteData({ note: "" }).toMap()).toEqual({ note: "" });
  expect(thinkingData({ contentIndex: 0, final: false, redacted: new Uint8Array() }).toMap()).toEqual({
    content_index: 0,
    final: false,
  });
  const bounds = { returned: 0, truncated: false };
  expect(toolResultData({ toolCallId: "c", toolName: "t", bounds }).toMap()["bounds"]).toEqual({
    Returned: 0,
    Total: null,
    Truncated: false,
    NextCursor: null,
    RefinementHint: "",
  });
});

const wrong = (value: unknown): never => value as never;

test("constructors refuse fields of another type", () => {
  expect(() => toolCallData(wrong({ toolName: "t" }))).toThrow('memory: tool_call field "tool_call_id" must be string');
  expect(() => toolCallData(wrong({ toolCallId: "c", toolName: "t", queue: 1 }))).toThrow(
    'memory: tool_call field "queue" must be string, got float64',
  );
  expect(() => userMessageData({ message: "m", structured: { f: () => null } })).toThrow(
    "Cannot use the data: data.structured.f is function, allowed: a JSON value",
  );
  expect(() => userMessageData({ message: "m", structured: [Number.NaN] })).toThrow("data.structured[0] is NaN");
  const ring: unknown[] = [];
  ring.push(ring);
  expect(() => userMessageData({ message: "m", structured: ring })).toThrow(
    "is nested deeper than 64 objects and arrays",
  );
});

test("a tool call's input keeps every digit; a second value is an error", () => {
  expect(["", " \n\t", undefined].map((payload) => toolCallInput(payload === undefined ? {} : { payload }))).toEqual([
    null,
    null,
    null,
  ]);
  const payload = '{"a":1000000000000000000000000000000,"b":9007199254740993,"c":1e400,"d":-0,"e":1.0}';
  const input = toolCallInput({ payload }) as Record<string, unknown>;
  expect(Object.values(input).map(String)).toEqual(["1" + "0".repeat(30), "9007199254740993", "1e400", "-0", "1.0"]);
  for (const trailing of ["{} {}", "1 2", '"a" x', "{}}"]) {
    expect(faultOf(() => toolCallInput({ payload: trailing }))).toMatchObject({
      message: "rawjson: trailing data",
      code: "JSON_TRAILING_DATA",
      of: "INPUT_INVALID",
    });
  }
  for (const invalid of ["{", "nul", "'a'", "[".repeat(100_000)]) {
    expect(faultOf(() => toolCallInput({ payload: invalid })).code).toBe("JSON_INVALID");
  }
  expect(toolCallInput({ payload: '{"a":1,"a":2}' })).toEqual({ a: new LosslessNumber("2") });
});

const timeOf = (timestamp: Date | string | undefined) => newEvent(timestamp, plannerNoteData({ note: "" })).timestamp;

test("timestamps: a date, or RFC 3339 of any zone, kept in UTC to the nanosecond", () => {
  expect(timeOf(new Date(1_700_000_000_120))).toBe("2023-11-14T22:13:20.12Z");
  expect(timeOf("2023-11-15T00:13:20.123456789+02:00")).toBe("2023-11-14T22:13:20.123456789Z");
  expect([timeOf(undefined), timeOf("")]).toEqual(["", ""]);
  for (const none of [new Date(Number.NaN), new Date(8.64e15), "2023-02-30T00:00:00Z", "yesterday", 5 as never]) {
    expect(() => timeOf(none)).toThrow(/^Cannot use the event: timestamp is .*, allowed: a date, or RFC 3339/);
  }
});
