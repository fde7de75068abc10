/**
 * Payloads as programs make and read them: what JSON cannot have, exact numbers, and what is left out or refused. The
 * rules of each field are those of the plugin, whose vectors show them.
 */
import {
  decodePlannerNoteData,
  decodeThinkingData,
  decodeToolCallData,
  decodeToolResultData,
  eventTypes,
  LosslessNumber,
  newEvent,
  plannerNoteData,
  thinkingData,
  toolCallData,
  toolCallInput,
  toolResultData,
  userMessageData,
} from "memcell/run-history";
import type { EventType, RunHistoryError } from "memcell/run-history";
import { expect, test } from "vitest";

import { decoders, faultOf } from "./stage.ts";

const ids = { tool_call_id: "c", tool_name: "t" };
const refusal = (type: EventType, data: unknown): RunHistoryError => faultOf(() => decoders[type]({ type, data }));

test.for(eventTypes)("the decoder of %s checks the type first, and then that data is a map", (type) => {
  for (const other of eventTypes.filter((each) => each !== type)) {
    expect(faultOf(() => decoders[type]({ type: other, data: null }))).toMatchObject({
      message: `memory: decode ${other} as ${type}`,
      code: "EVENT_TYPE_MISMATCH",
      of: "INPUT_INVALID",
      issues: [{ field: "type", value: `"${other}"`, allowed: `"${type}"` }],
    });
  }
  for (const data of [null, undefined]) expect(refusal(type, data).code).toBe("EVENT_DATA_NIL");
  for (const data of [[], "{}", new LosslessNumber("1"), new Uint8Array(1), new Map(), new Date(), () => null])
    expect(refusal(type, data)).toMatchObject({ code: "EVENT_DATA_NOT_MAP", of: "INPUT_INVALID" });
});

test("data without a prototype is read, what another object lends it is not, and other keys are nothing", () => {
  const bare = Object.assign(Object.create(null) as object, { note: "n", another: [() => null] });
  expect(decodePlannerNoteData({ type: "planner_note", data: bare }).note).toBe("n");
  const lent = Object.create({ note: "n" }) as object;
  expect(refusal("planner_note", lent).code).toMatch(/^EVENT_(FIELD_MISSING|DATA_NOT_MAP)$/);
  expect(refusal("planner_note", { note: 1 })).toMatchObject({
    message: 'memory: planner_note field "note" must be string, got float64',
    issues: [{ field: "data.note", value: "1", allowed: "a string" }],
  });
});

const childrenOf = (value: unknown) =>
  decodeToolCallData({ type: "tool_call", data: { ...ids, expected_children_total: value } }).expectedChildrenTotal;

test("numbers: whole, or cut towards zero; in any form", () => {
  const given = [3.9, -3.9, 3n, new LosslessNumber("3.9e0"), null, Number.MAX_SAFE_INTEGER];
  expect(given.map(childrenOf)).toEqual([3, -3, 3, 3, 0, Number.MAX_SAFE_INTEGER]);
  for (const value of ["3", true, [], new LosslessNumber("1e400"), 2 ** 53, Number.NaN])
    expect(() => childrenOf(value)).toThrow(/"expected_children_total" must be int-compatible, got /);
});

const durationOf = (duration: unknown) =>
  decodeToolResultData({ type: "tool_result", data: { ...ids, duration } }).duration;

test("durations: nanoseconds of 64 bits, exactly", () => {
  const beyond = 2n ** 53n + 1n;
  const given = [1.9, beyond, new LosslessNumber(`${beyond}`), new LosslessNumber(`${2n ** 63n - 1n}`), undefined];
  expect(given.map(durationOf)).toEqual([1n, beyond, beyond, 2n ** 63n - 1n, 0n]);
  for (const value of ["2s", true, new LosslessNumber(`${2n ** 63n}`), new LosslessNumber("1e400")])
    expect(() => durationOf(value)).toThrow(/"duration" must be duration-compatible, got /);
});

const redactedOf = (redacted: unknown) =>
  Array.from(decodeThinkingData({ type: "thinking", data: { redacted } }).redacted);

test("redacted thinking: base64, or the bytes themselves", () => {
  expect(["AQID", "", Uint8Array.of(1, 2), [1, 2, 255]].map(redactedOf)).toEqual([[1, 2, 3], [], [1, 2], [1, 2, 255]]);
  for (const text of ["AQI", "AQI*", "AQID=", "_-==", " AQID", "A==="])
    expect(() => redactedOf(text)).toThrow(/"redacted" must be base64, got invalid string/);
  for (const value of [1, [256], {}]) expect(() => redactedOf(value)).toThrow(/"redacted" must be string, got /);
});

const payloadOf = (payload: unknown) => decodeToolCallData({ type: "tool_call", data: { ...ids, payload } }).payload;

test("payload and result: JSON text, or the older form with the value itself", () => {
  const spaced = ' { "b" : 1.0 }\n';
  expect([spaced, "", null, undefined, { toJSON: () => null }].map(payloadOf)).toEqual([spaced, "", "", "", ""]);
  const exact = { q: 2n ** 64n, r: [new LosslessNumber("1e400"), -0, "\u2028"] };
  expect(payloadOf(exact)).toBe('{"q":18446744073709551616,"r":[1e400,-0,"\u2028"]}');
  const data = { ...ids, result_json: [1], server_data: { secret: true } };
  const found = decodeToolResultData({ type: "tool_result", data });
  expect(found).toMatchObject({ resultJson: "[1]", serverData: '{"secret":true}' });
});

test("toMap leaves out what has no value, where goa-ai does", () => {
  const [one, thought] = [
    { toolCallId: "c", toolName: "t" },
    { contentIndex: 0, final: false },
  ];
  const empty = { parentToolCallId: "", payload: "", queue: "", expectedChildrenTotal: 0 };
  const bounds = { Returned: 0, Total: null, Truncated: false, NextCursor: null, RefinementHint: "" };
  expect([
    userMessageData({ message: "", structured: null }).toMap(),
    userMessageData({ message: "", structured: 0 }).toMap(),
    toolCallData({ ...one, ...empty }).toMap(),
    toolResultData({ ...one, duration: 0n, errorMessage: "" }).toMap(),
    toolResultData({ ...one, bounds: { returned: 0, truncated: false } }).toMap()["bounds"],
    plannerNoteData({ note: "" }).toMap(),
    thinkingData({ ...thought, redacted: new Uint8Array() }).toMap(),
  ]).toEqual([{}, { structured: 0 }, ids, ids, bounds, { note: "" }, { content_index: 0, final: false }]);
});

const wrong = (value: unknown): never => value as never;
const structured = (value: unknown) => () => userMessageData({ message: "m", structured: value });

test("constructors refuse fields of another type, and what JSON cannot have", () => {
  expect(() => toolCallData(wrong({ toolName: "t" }))).toThrow('field "tool_call_id" must be string');
  expect(() => toolCallData(wrong({ toolCallId: "c", toolName: "t", queue: 1 }))).toThrow("string, got float64");
  const ring: unknown[] = [];
  ring.push(ring);
  expect(structured({ f: () => null })).toThrow(/: data\.structured\.f is function, allowed: a JSON value/);
  expect(structured([Number.NaN])).toThrow("data.structured[0] is NaN");
  expect(structured(ring)).toThrow("is nested deeper than 64 objects and arrays");
});

const codeOf = (text: string): string => faultOf(() => toolCallInput({ payload: text })).code;

test("a tool call's input keeps every digit; a second value is an error", () => {
  expect([{ payload: "" }, { payload: " \n\t" }, {}].map((call) => toolCallInput(call))).toEqual([null, null, null]);
  const payload = '{"a":1000000000000000000000000000000,"b":9007199254740993,"c":1e400,"d":-0,"e":1.0}';
  const input = toolCallInput({ payload }) as Record<string, unknown>;
  expect(Object.values(input).map(String)).toEqual(["1" + "0".repeat(30), "9007199254740993", "1e400", "-0", "1.0"]);
  expect(toolCallInput({ payload: '{"a":1,"a":2}' })).toEqual({ a: new LosslessNumber("2") });
  expect(new Set(["{} {}", "1 2", '"a" x', "{}}"].map(codeOf))).toEqual(new Set(["JSON_TRAILING_DATA"]));
  expect(new Set(["{", "nul", "'a'", "[".repeat(100_000)].map(codeOf))).toEqual(new Set(["JSON_INVALID"]));
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
