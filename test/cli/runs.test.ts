/** `memcell runs` on the command line. */
import { afterAll, beforeAll, expect, test } from "vitest";

import { temporaryFolder } from "../support/temporary-folder.ts";
import { event, memcellRuns, storeRuns } from "./stored-runs.ts";
import type { StoredEvent, StoredRun } from "./stored-runs.ts";

const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());
const data = folder.path;
const alice = ["--user", "alice"];

const call = { tool_call_id: "c1", tool_name: "weather.lookup" };
const turns: StoredEvent[] = [
  event("user_message", "00", { message: "What is the\nweather in 東京?" }),
  event("thinking", "00.000000005", { redacted: "aGk=", content_index: 0, final: true }),
  event("tool_call", "01", { ...call, payload: '{"city":"Tokyo"}' }),
  event("tool_result", "02.5", { ...call, result_json: '{"c":21}', preview: "21 °C", duration: 1_500_000_000 }),
  event("tool_result", "03", { ...call, duration: 8_985_600_000_000_999, error_message: "no such city" }),
  event("assistant_message", "04", { structured: { c: 21 } }),
  event("planner_note", "00.5", { note: "A note that came late" }),
];

const hostile = "\u001b[2Jx\u202e\u009b1A\r";
const attack: StoredEvent[] = [
  event("user_message", "00", { message: `${hostile}\nNo events` }),
  event("tool_call", "01", { tool_call_id: hostile, tool_name: `${hostile}  error: none` }),
  event("tool_result", "02", { ...call, error_message: hostile }),
];

const runs: StoredRun[] = [
  { agentId: "planner", runId: "run-1", events: turns },
  { agentId: "-h agent/日本", runId: `"${hostile}"`, events: attack },
  { agentId: "planner", runId: "run-2", events: turns.slice(0, 1) },
];
beforeAll(() => storeRuns(data, "alice", runs));

test("list prints a table of all runs, or those of one agent", () => {
  const rows = [
    "agent            run                                   events  first                 last",
    '"-h agent/日本"  "\\"\\u001b[2Jx\\u202e\\u009b1A\\u000d\\""       3  2026-01-01T10:00:00Z  2026-01-01T10:00:02Z',
    "planner          run-1                                      7  2026-01-01T10:00:00Z  2026-01-01T10:00:04Z",
    "planner          run-2                                      1  2026-01-01T10:00:00Z  2026-01-01T10:00:00Z",
    "",
  ];
  const { status, stdout, stderr } = memcellRuns(data, "list", ...alice);
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  expect(stdout.replaceAll(/ {2,}(size|\d+ bytes)$/gm, "")).toBe(rows.join("\n"));
  const one = memcellRuns(data, "list", "--agent", "planner", "--json", ...alice);
  expect(JSON.parse(one.stdout)).toMatchObject([
    { agentId: "planner", runId: "run-1", events: 7 },
    { agentId: "planner", runId: "run-2", events: 1, firstAt: "2026-01-01T10:00:00Z" },
  ]);
});

test("show prints a line for each event, in the order of their times", () => {
  const { status, stdout, stderr } = memcellRuns(data, "show", "planner", "run-1", ...alice);
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  expect(stdout).toBe(`\
2026-01-01T10:00:00Z            user_message           45 bytes  What is the weather in 東京?
2026-01-01T10:00:00.000000005Z  thinking               50 bytes  (redacted)
2026-01-01T10:00:00.5Z          planner_note           32 bytes  A note that came late
2026-01-01T10:00:01Z            tool_call              83 bytes  weather.lookup
2026-01-01T10:00:02.5Z          tool_result           118 bytes  weather.lookup  1.5 s  21 °C
2026-01-01T10:00:03Z            tool_result           109 bytes  weather.lookup  2496 h  error: no such city
2026-01-01T10:00:04Z            assistant_message      23 bytes  (a JSON value)
`);
});

test("show selects by type, and then the last of them", () => {
  const types = ["--type", "tool_result", "--type", "tool_call"];
  const { stdout } = memcellRuns(data, "show", "planner", "run-1", ...types, "--last=2", ...alice);
  expect(stdout.split("\n").map((line) => line.slice(0, 22))).toEqual([
    "2026-01-01T10:00:02.5Z",
    "2026-01-01T10:00:03Z  ",
    "",
  ]);
});

test("show --json prints every digit, and JSON in one line", async () => {
  const numbers = "[1000000000000000000000000000000,9007199254740993,1e400,-0,1.10]";
  const exact = `{"message":"\u2028\u202e\\u001b",\t"structured":\n${numbers}}`;
  const labels = { k: "\u009b" };
  const events = [{ ...event("user_message", "00.000000001", {}), data: exact, labels }];
  await storeRuns(data, "bob", [{ agentId: "a", runId: "r", events }]);
  const { status, stdout } = memcellRuns(data, "show", "a", "r", "--json", "--user", "bob");
  expect(status).toBe(0);
  expect(stdout).toBe(
    '{"type":"user_message","timestamp":"2026-01-01T10:00:00.000000001Z",' +
      `"data":{"message":"\\u2028\\u202e\\u001b",\t"structured": ${numbers}},"labels":{"k":"\\u009b"}}\n`,
  );
  expect(JSON.parse(stdout)).toMatchObject({ data: { message: "\u2028\u202e\u001b" }, labels });
});

test("texts of others cannot control a terminal, end a line or look like the command's words", () => {
  const { agentId, runId } = runs[1] as StoredRun;
  const { stdout } = memcellRuns(data, "show", ...alice, "--", agentId, runId);
  const shown = "\\u001b[2Jx\\u202e\\u009b1A";
  expect(stdout.split("\n").map((line) => line.slice(65))).toEqual([
    `${shown} No events`,
    `"${shown}\\u000d  error: none"`,
    `weather.lookup  error: ${shown}`,
    "",
  ]);
});

test("an unknown run has no events, and cannot be deleted", () => {
  expect(memcellRuns(data, "show", "planner", "x", ...alice)).toMatchObject({
    status: 1,
    stdout: expect.stringContaining("ENTRY_NOT_FOUND"),
  });
  const { status, stdout } = memcellRuns(data, "delete", "planner", "x", ...alice);
  expect(status).toBe(1);
  expect(JSON.parse(stdout)).toMatchObject({ ok: false, error: { code: "RUN_NOT_FOUND" } });
});
