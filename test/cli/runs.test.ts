/** `memcell runs`: tables and lines of what agents did, in which no text can pass for the command's own. */
import { createRuntime } from "memcell";
import { afterAll, beforeAll, expect, test } from "vitest";

import { memcell } from "../stage/command.ts";
import { writeUserFiles } from "../support/user-files.ts";
import { commandStage, errorOf } from "./command-stage.ts";

interface StoredEvent {
  readonly type: string;
  readonly timestamp: string;
  /** JSON text. */
  readonly data: string;
  readonly labels?: Readonly<Record<string, string>>;
}

const event = (type: string, second: string, data: object): StoredEvent => ({
  type,
  timestamp: `2026-01-01T10:00:${second}Z`,
  data: JSON.stringify(data),
});

const stage = commandStage();
afterAll(() => stage[Symbol.dispose]());
const runs = (...args: readonly string[]) => stage.memcell("runs", ...args);
const ofAlice = (...args: readonly string[]) => runs("--user", "alice", ...args);

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
const hostileIds = ["-h agent/日本", `"${hostile}"`] as const;
const attack: StoredEvent[] = [
  event("user_message", "00", { message: `${hostile}\nNo events` }),
  event("tool_call", "01", { tool_call_id: hostile, tool_name: `${hostile}  error: none` }),
  event("tool_result", "02", { ...call, error_message: hostile }),
];

/** JSON that a parser would not give back. */
const numbers = "[1000000000000000000000000000000,9007199254740993,1e400,-0,1.10]";
const exact: StoredEvent = {
  ...event("user_message", "00.000000001", {}),
  data: `{"message":"\u2028\u202e\\u001b",\t"structured":\n${numbers}}`,
  labels: { k: "\u009b" },
};

/** Several pages. */
const messages = Array.from({ length: 1_200 }, (_, at) => `${at} text`);
const long = messages.map((message, at) => event("user_message", `00.${at + 1_000}`, { message }));

beforeAll(async () => {
  await using runtime = await createRuntime({ dataDir: stage.dataDir, plugins: ["run-history"], threadsMax: 1 });
  const append = async (userId: string, [agentId, runId]: readonly [string, string], events: StoredEvent[]) => {
    const input = { agentId, runId, events };
    const result = await runtime.callAsHost("run-history/AppendRunEvents", input, { userId });
    if (!result.ok) throw new Error(result.error.message);
  };
  await append("alice", ["planner", "run-1"], turns);
  await append("alice", hostileIds, attack);
  await append("alice", ["planner", "run-2"], turns.slice(0, 1));
  await append("bob", ["a", "exact"], [exact]);
  for (let at = 0; at < long.length; at += 400) await append("bob", ["a", "long"], long.slice(at, at + 400));
  await append("o'neil", ["-a", "r"], [event("planner_note", "00", { note: "x" })]);
});

test("list prints a table of all runs, or those of one agent", async () => {
  const rows = [
    "agent            run                                   events  first                 last",
    '"-h agent/日本"  "\\"\\u001b[2Jx\\u202e\\u009b1A\\u000d\\""       3  2026-01-01T10:00:00Z  2026-01-01T10:00:02Z',
    "planner          run-1                                      7  2026-01-01T10:00:00Z  2026-01-01T10:00:04Z",
    "planner          run-2                                      1  2026-01-01T10:00:00Z  2026-01-01T10:00:00Z",
    "",
  ];
  const { status, stdout, stderr } = await ofAlice("list");
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  expect(stdout.replaceAll(/ {2,}(size|\d+ bytes)$/gm, "")).toBe(rows.join("\n"));
  const one = await ofAlice("list", "--agent", "planner", "--json");
  expect(JSON.parse(one.stdout)).toMatchObject([
    { agentId: "planner", runId: "run-1", events: 7 },
    { agentId: "planner", runId: "run-2", events: 1, firstAt: "2026-01-01T10:00:00Z" },
  ]);
});

test("show prints a line for each event, in the order of their times, or the last of some types", async () => {
  const { status, stdout, stderr } = await ofAlice("show", "planner", "run-1");
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
  const types = ["--type", "tool_result", "--type", "tool_call"];
  const some = await ofAlice("show", "planner", "run-1", ...types, "--last=2");
  expect(some.stdout.split("\n").map((line) => line.slice(0, 22))).toEqual([
    "2026-01-01T10:00:02.5Z",
    "2026-01-01T10:00:03Z  ",
    "",
  ]);
  // A type that no event has is no unknown run.
  const none = await ofAlice("show", "planner", "run-2", "--type", "thinking");
  expect(none).toMatchObject({ status: 0, stdout: "No events\n" });
});

test("show --json prints every digit, and JSON in one line", async () => {
  const { status, stdout } = await runs("show", "a", "exact", "--json", "--user", "bob");
  expect(status).toBe(0);
  expect(stdout).toBe(
    '{"type":"user_message","timestamp":"2026-01-01T10:00:00.000000001Z",' +
      `"data":{"message":"\\u2028\\u202e\\u001b",\t"structured": ${numbers}},"labels":{"k":"\\u009b"}}\n`,
  );
  expect(JSON.parse(stdout)).toMatchObject({ data: { message: "\u2028\u202e\u001b" }, labels: exact.labels });
});

test("texts of others cannot control a terminal, end a line or look like the command's words", async () => {
  const { stdout } = await ofAlice("show", "--", ...hostileIds);
  const shown = "\\u001b[2Jx\\u202e\\u009b1A";
  expect(stdout.split("\n").map((line) => line.slice(65))).toEqual([
    `${shown} No events`,
    `"${shown}\\u000d  error: none"`,
    `weather.lookup  error: ${shown}`,
    "",
  ]);
});

test("show prints all pages and --last the end of the last one, and list the runs of all pages", async () => {
  const { stdout, stderr } = await runs("show", "a", "long", "--user", "bob");
  expect(stderr).toBe("");
  expect(stdout.split("\n").map((line) => line.slice(65))).toEqual([...messages, ""]);
  const json = (await runs("show", "a", "long", "--json", "--last", "1001", "--user", "bob")).stdout.trimEnd();
  const data = json.split("\n").map((line) => (JSON.parse(line) as { data: object }).data);
  expect(data).toEqual(messages.slice(-1001).map((message) => ({ message })));
  const line = `{"type":"planner_note","timestamp":"2026-01-01T10:00:00Z","data":{"note":"x"},"labels":{}}\n`;
  const names = Array.from({ length: 1_001 }, (_, at) => `r${at + 1_000}`);
  const files = Object.fromEntries(names.map((name) => [`runs/a/${name}/000001.jsonl`, line]));
  writeUserFiles(stage.dataDir, { carol: files });
  const listed = JSON.parse((await runs("list", "--user", "carol", "--json")).stdout) as { runId: string }[];
  expect(listed.map(({ runId }) => runId)).toEqual(names);
});

test("delete prints the command that brings the run back, for a shell", async () => {
  const { status, stdout } = await runs("delete", "--user", "o'neil", "--", "-a", "r");
  expect(status).toBe(0);
  expect(stdout).toMatch(/^2 files, \d+ bytes moved to the trash\nTo bring the run back: memcell /);
  expect((await runs("list", "--user", "o'neil")).stdout).toBe("No runs\n");
  const [, line = ""] = /^To bring the run back: memcell (.*)\n$/m.exec(stdout) ?? [];
  const words = Array.from(line.matchAll(/(?:'[^']*'|\\.|[^\s'\\])+/g), ([word]) =>
    word.replaceAll(/'([^']*)'|\\(.)/g, "$1$2"),
  );
  expect(await memcell(words)).toMatchObject({ status: 0, stderr: "" });
  expect((await runs("show", "--user", "o'neil", "--", "-a", "r")).stdout).toMatch(/^2026\S+ +planner_note .* x\n$/);
});

test("a damaged run is shown without its damaged lines, and its files are named when it is deleted", async () => {
  const line = `{"type":"planner_note","timestamp":"2026-01-01T10:00:00Z","data":{"note":"x"},"labels":{}}`;
  writeUserFiles(stage.dataDir, { eve: { "runs/a/r/000001.jsonl": `${line}\ntorn` } });
  expect(await runs("show", "a", "r", "--user", "eve")).toEqual({
    status: 0,
    stdout: expect.stringMatching(/^2026\S+ +planner_note .* x\n$/) as string,
    stderr: 'memcell runs: some lines are no events; "memcell doctor" names them\n',
  });
  const { stdout } = await runs("delete", "a", "r", "--user", "eve");
  expect(stdout).toMatch(/^1 file, \d+ bytes moved to the trash\n.* a\/r\/000001\.\w+Z\.jsonl\n$/);
});

test.for([
  { args: ["show", "planner", "x"], code: "ENTRY_NOT_FOUND", says: 'the agent "planner" has no run "x"' },
  { args: ["delete", "planner", "x"], code: "RUN_NOT_FOUND", says: "" },
])("runs $args is a coded error: $code", async ({ args, code, says }) => {
  const ran = await ofAlice(...args, ...(args[0] === "show" ? ["--json"] : []));
  if (args[0] === "delete") return expect(ran).toMatchObject({ status: 1, stdout: "" });
  const error = errorOf(ran);
  expect(error.code).toBe(code);
  expect(error.message).toContain(says);
});
