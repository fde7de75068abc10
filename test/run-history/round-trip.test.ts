/** Events of all types come back as they were, through a real runtime: every digit, every character. */
import fc from "fast-check";
import { stringify } from "lossless-json";
import {
  assistantMessageData,
  LosslessNumber,
  newEvent,
  plannerNoteData,
  Reader,
  thinkingData,
  toolCallData,
  toolResultData,
  userMessageData,
} from "memcell/run-history";
import type { Event } from "memcell/run-history";
import { expect, test } from "vitest";

import { runs } from "../stage/random-runs.ts";
import { decoders, useHistory } from "./stage.ts";

const newUser = useHistory();

const number = fc.oneof(
  fc
    .constantFrom("1" + "0".repeat(30), "9007199254740993", "1e400", "-0", "-0.0", "1E-400", "1.50", "1e+05", "0e0")
    .map((text) => new LosslessNumber(text)),
  fc.bigInt(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
);
const hardTexts = '\u2028 \u2029 \0 \u001f \ud800 \udc00 \u{1f600} \ufeff </script> " \\ \n'.split(" ");
const text = fc
  .array(fc.oneof(fc.constantFrom(...hardTexts), fc.string({ unit: "binary", maxLength: 5 })), { maxLength: 5 })
  .map((parts) => parts.join(""));
const { json } = fc.letrec((tie) => ({
  json: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    number,
    text,
    fc.boolean(),
    fc.constant(null),
    fc.array(tie("json"), { maxLength: 3 }),
    fc.dictionary(fc.oneof(text, fc.constantFrom("__proto__", "toString", "1")), tie("json"), { maxKeys: 3 }),
  ),
}));
const map = fc.dictionary(text, json, { maxKeys: 3 });
/** JSON text in the odd forms that it can have. */
const jsonText = fc.oneof(
  json.map((value) => stringify(value) ?? "null"),
  json.map((value) => ` ${stringify(value, null, 2) ?? "null"}\r\n`),
  fc.constantFrom("", '{"a":1,"a":2}'),
);
/** 104 days, from which on a JavaScript number loses nanoseconds, and more. */
const duration = fc.oneof(fc.constant(2n ** 53n + 1n), fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }));
const whole = fc.maxSafeInteger();

const data = fc.oneof(
  fc.record({ message: text, structured: json }).map(userMessageData),
  fc.record({ message: text, structured: json }).map(assistantMessageData),
  fc
    .record({
      toolCallId: text,
      toolName: text,
      parentToolCallId: text,
      payload: jsonText,
      queue: text,
      expectedChildrenTotal: whole,
    })
    .map(toolCallData),
  fc
    .record({
      toolCallId: text,
      toolName: text,
      resultJson: jsonText,
      serverData: jsonText,
      preview: text,
      bounds: fc.record({ returned: whole, total: whole, truncated: fc.boolean(), nextCursor: text }),
      duration,
      telemetry: map,
      retryHint: fc.record({ reason: text, tool: text, missingFields: fc.array(text), exampleInput: map }),
      errorMessage: text,
    })
    .map(toolResultData),
  fc.record({ note: text }).map(plannerNoteData),
  fc
    .record({ text, signature: text, redacted: fc.uint8Array(), contentIndex: whole, final: fc.boolean() })
    .map(thinkingData),
);

const timestamp = fc
  .tuple(
    fc.date({ min: new Date("0001-01-02"), max: new Date("9999-12-30"), noInvalidDate: true }),
    fc.nat(999_999_999),
  )
  .map(([date, nanos]) => `${date.toISOString().slice(0, 19)}.${String(nanos).padStart(9, "0")}+01:00`);
const labels = fc.dictionary(fc.string({ unit: "grapheme" }), fc.string({ unit: "grapheme" }), { maxKeys: 3 });
const event = fc.tuple(timestamp, data, labels).map((parts) => newEvent(...parts));

/** The digits of every number count, whatever its form in memory. */
const exactly = (value: unknown): string => stringify(value) ?? "";
const textOf = ({ type, timestamp: at, data: found, labels: named }: Event): string =>
  `${type} ${at} ${exactly(found)} ${JSON.stringify(named)}`;

const decode = (each: Event): string => exactly(decoders[each.type](each));

test("what is appended is loaded, in the order of time", async () => {
  const { history } = newUser();
  let last = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(event, { minLength: 1, maxLength: 20 }), async (events) => {
      const runId = `run ${last++}`;
      await history.append("agent", runId, events);
      const expected = new Reader({ events }).events();
      const found = (await history.load("agent", runId)).events;
      expect(found.map(textOf)).toEqual(expected.map(textOf));
      expect(found.map(decode)).toEqual(expected.map(decode));
    }),
    runs(25),
  );
});
