/** How typed data is read: goa-ai's rules, its order of checks, and its words. */
import {
  decodeAssistantMessageData,
  decodePlannerNoteData,
  decodeThinkingData,
  decodeToolCallData,
  decodeToolResultData,
  decodeUserMessageData,
  eventTypes,
  LosslessNumber,
} from "memcell/run-history";
import type { DecodableEvent, EventType, RunHistoryError } from "memcell/run-history";
import { expect, test } from "vitest";

import { faultOf } from "./stage.ts";

const decoders = {
  user_message: decodeUserMessageData,
  assistant_message: decodeAssistantMessageData,
  tool_call: decodeToolCallData,
  tool_result: decodeToolResultData,
  planner_note: decodePlannerNoteData,
  thinking: decodeThinkingData,
} satisfies Record<EventType, (event: DecodableEvent) => unknown>;

const ids = { tool_call_id: "c", tool_name: "t" };
const leastData = {
  user_message: {},
  assistant_message: {},
  tool_call: ids,
  tool_result: ids,
  planner_note: { note: "" },
  thinking: {},
};

const refusal = (type: EventType, data: unknown): RunHistoryError => faultOf(() => decoders[type]({ type, data }));

test("the type is checked first", () => {
  for (const want of eventTypes) {
    for (const type of eventTypes.filter((each) => each !== want)) {
      const fault = faultOf(() => decoders[want]({ type, data: null }));
      expect(fault).toMatchObject({
        message: `memory: decode ${type} as ${want}`,
        code: "EVENT_TYPE_MISMATCH",
        of: "INPUT_INVALID",
        issues: [{ field: "type", value: `"${type}"`, allowed: `"${want}"` }],
      });
    }
  }
});

test.for(eventTypes)("%s: data that is missing or no map", (type) => {
  for (const data of [null, undefined]) {
    expect(refusal(type, data)).toMatchObject({ message: `memory: ${type} data is nil`, code: "EVENT_DATA_NIL" });
  }
  const others: readonly (readonly [data: unknown, goType: string])[] = [
    [[], "[]interface {}"],
    ["{}", "string"],
    [1, "float64"],
    [new LosslessNumber("1"), "float64"],
    [true, "bool"],
    [new Uint8Array(1), "[]uint8"],
    [new Map(), "Map"],
    [new Date(), "Date"],
    [() => null, "function"],
  ];
  for (const [data, goType] of others) {
    expect(refusal(type, data)).toMatchObject({
      message: `memory: ${type} data must be map[string]any, got ${goType}`,
      code: "EVENT_DATA_NOT_MAP",
      of: "INPUT_INVALID",
    });
  }
});

test.for(eventTypes)("%s: the least data, with and without keys that no type has", (type) => {
  const decode = decoders[type];
  const least = leastData[type];
  const found = decode({ type, data: least });
  expect(decode({ type, data: { ...least, another: [() => null] } })).toEqual(found);
  expect(decode({ type, data: Object.assign(Object.create(null), least) as unknown })).toEqual(found);
  expect(found.eventType).toBe(type);
});

test.for([
  ["tool_call", "tool_call_id"],
  ["tool_call", "tool_name"],
  ["tool_result", "tool_call_id"],
  ["tool_result", "tool_name"],
  ["planner_note", "note"],
] as const)("%s needs %s, which can be empty", ([type, key]) => {
  const { [key]: _, ...others } = { ...leastData[type] } as Record<string, unknown>;
  expect(refusal(type, others)).toMatchObject({
    message: `memory: ${type} missing "${key}"`,
    code: "EVENT_FIELD_MISSING",
    issues: [{ field: `data.${key}`, value: "missing", allowed: "a string" }],
  });
  expect(() => decoders[type]({ type, data: { ...others, [key]: "" } })).not.toThrow();
  expect(refusal(type, { ...others, [key]: null }).message).toBe(
    `memory: ${type} field "${key}" must be string, got <nil>`,
  );
  // An inherited property is none of the data.
  const inherited = Object.assign(Object.create({ [key]: "x" }) as object, others);
  expect(refusal(type, inherited).code).toMatch(/^EVENT_(FIELD_MISSING|DATA_NOT_MAP)$/);
});

const optionalTexts = [
  ["user_message", "message"],
  ["assistant_message", "message"],
  ["tool_call", "parent_tool_call_id"],
  ["tool_call", "queue"],
  ["tool_result", "parent_tool_call_id"],
  ["tool_result", "preview"],
  ["tool_result", "error_message"],
  ["thinking", "text"],
  ["thinking", "signature"],
] as const;

test.for(optionalTexts)("%s: %s is a string, or nothing", ([type, key]) => {
  const least = leastData[type];
  for (const [value, goType] of [
    [1, "float64"],
    [true, "bool"],
    [[], "[]interface {}"],
    [{}, "map[string]interface {}"],
  ] as const) {
    expect(refusal(type, { ...least, [key]: value })).toMatchObject({
      message: `memory: ${type} field "${key}" must be string, got ${goType}`,
      code: "EVENT_FIELD_INVALID",
    });
  }
  const found = decoders[type]({ type, data: least });
  for (const none of [null, undefined, ""]) {
    expect(decoders[type]({ type, data: { ...least, [key]: none } })).toEqual(found);
  }
});

const childrenOf = (value: unknown) =>
  decodeToolCallData({ type: "tool_call", data: { ...ids, expected_children_total: value } }).expectedChildrenTotal;

test("numbers: whole, or cut towards zero; in any form", () => {
  expect([3, 3.9, -3.9, 3n, new LosslessNumber("3"), new LosslessNumber("3.9e0"), null].map(childrenOf)).toEqual([
    3, 3, -3, 3, 3, 3, 0,
  ]);
  expect(childrenOf(Number.MAX_SAFE_INTEGER)).toBe(Number.MAX_SAFE_INTEGER);
  for (const value of ["3", true, [], new LosslessNumber("1e400"), 2 ** 53, Number.NaN]) {
    expect(() => childrenOf(value)).toThrow(
      /^memory: tool_call field "expected_children_total" must be int-compatible, got /,
    );
  }
  expect(refusal("thinking", { content_index: "3" }).message).toBe(
    'memory: thinking field "content_index" must be int-compatible, got string',
  );
});

const durationOf = (duration: unknown) =>
  decodeToolResultData({ type: "tool_result", data: { ...ids, duration } }).duration;

test("durations: nanoseconds of 64 bits, exactly", () => {
  const beyond = 2n ** 53n + 1n;
  expect([2_000_000_000, 1.9, beyond, new LosslessNumber(String(beyond)), null, undefined].map(durationOf)).toEqual([
    2_000_000_000n,
    1n,
    beyond,
    beyond,
    0n,
    0n,
  ]);
  expect(durationOf(new LosslessNumber("9223372036854775807"))).toBe(2n ** 63n - 1n);
  for (const [value, goType] of [
    ["2s", "string"],
    [true, "bool"],
    [new LosslessNumber("9223372036854775808"), "float64"],
    [new LosslessNumber("1e400"), "float64"],
  ] as const) {
    expect(refusal("tool_result", { ...ids, duration: value })).toMatchObject({
      message: `memory: tool_result field "duration" must be duration-compatible, got ${goType}`,
      code: "EVENT_FIELD_INVALID",
    });
  }
});

test("a flag is true or false", () => {
  for (const [value, goType] of [
    ["true", "string"],
    [1, "float64"],
  ] as const) {
    expect(refusal("thinking", { final: value }).message).toBe(
      `memory: thinking field "final" must be bool, got ${goType}`,
    );
  }
  expect(decodeThinkingData({ type: "thinking", data: { final: null } }).final).toBe(false);
});

const redactedOf = (redacted: unknown) =>
  Array.from(decodeThinkingData({ type: "thinking", data: { redacted } }).redacted);

test("redacted thinking: base64, or the bytes themselves", () => {
  expect(redactedOf("AQID")).toEqual([1, 2, 3]);
  expect(redactedOf("")).toEqual([]);
  expect(redactedOf(Uint8Array.of(1, 2))).toEqual([1, 2]);
  expect(redactedOf([1, 2, 255])).toEqual([1, 2, 255]);
  for (const text of ["AQI", "AQI*", "AQID=", "_-==", " AQID", "A==="]) {
    expect(refusal("thinking", { redacted: text })).toMatchObject({
      message: 'memory: thinking field "redacted" must be base64, got invalid string',
      code: "EVENT_FIELD_INVALID",
    });
  }
  for (const [value, goType] of [
    [1, "float64"],
    [[256], "[]interface {}"],
    [{}, "map[string]interface {}"],
  ] as const) {
    expect(refusal("thinking", { redacted: value }).message).toBe(
      `memory: thinking field "redacted" must be string, got ${goType}`,
    );
  }
});

const payloadOf = (payload: unknown) => decodeToolCallData({ type: "tool_call", data: { ...ids, payload } }).payload;

test("payload and result: JSON text, or the older form with the value itself", () => {
  const spaced = ' { "b" : 1.0 }\n';
  expect(payloadOf(spaced)).toBe(spaced);
  expect([payloadOf(""), payloadOf(null), payloadOf(undefined)]).toEqual(["", "", ""]);
  expect(payloadOf({ toJSON: () => null })).toBe("");
  expect(payloadOf({ q: 2n ** 64n, r: [new LosslessNumber("1e400"), -0, "\u2028"] })).toBe(
    '{"q":18446744073709551616,"r":[1e400,-0,"\u2028"]}',
  );
  const data = { ...ids, result_json: [1], server_data: { secret: true } };
  expect(decodeToolResultData({ type: "tool_result", data })).toMatchObject({
    resultJson: "[1]",
    serverData: '{"secret":true}',
  });
});

test("bounds, telemetry and retry hint are objects, read with the same rules", () => {
  for (const key of ["bounds", "telemetry", "retry_hint"]) {
    expect(refusal("tool_result", { ...ids, [key]: [] }).message).toBe(
      `memory: tool_result field "${key}" must be map[string]any, got []interface {}`,
    );
  }
  const data = { ...ids, bounds: { Returned: 1, Total: null, Truncated: false }, retry_hint: { MissingFields: ["q"] } };
  const { bounds, retryHint, telemetry } = decodeToolResultData({ type: "tool_result", data });
  expect(bounds).toEqual({ returned: 1, truncated: false });
  expect(retryHint).toMatchObject({ reason: "", tool: "", restrictToTool: false, missingFields: ["q"] });
  expect(telemetry).toBeUndefined();
  expect(refusal("tool_result", { ...ids, retry_hint: { MissingFields: [1] } }).message).toContain("must be []string");
});
