/** `memcell runs` on the command line: what takes longer. */
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";

import stringWidth from "string-width";
import { afterAll, beforeAll, expect, test } from "vitest";

import { policyFor } from "../support/policy-for.ts";
import { runOnTerminal, whyNoTerminal } from "../support/pseudo-terminal.ts";
import { skipWithReason } from "../support/skip-with-reason.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { shippedPlugin } from "../support/test-plugin.ts";
import { writeUserFiles } from "../support/user-files.ts";
import { event, memcellRuns, program, storeRuns } from "./stored-runs.ts";

const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());
/** A shell would split it. */
const data = `${folder.path}/it's data`;
const alice = ["--user", "alice"];
const shell = (script: string) =>
  spawnSync("sh", ["-c", script, process.execPath, program], { encoding: "utf8", cwd: folder.path });

/** Several pages of `LoadRun`. Each message is wider than a terminal. */
const messages = Array.from({ length: 1_500 }, (_, at) => `${at} ${"東京 ".repeat(200)}`);
const long = messages.map((message, at) => event("user_message", `00.${at + 1_000}`, { message }));
beforeAll(() => storeRuns(data, "alice", [{ agentId: "planner", runId: "long", events: long }]));

test("show prints all pages, and --last the end of the last one", () => {
  const { status, stdout, stderr } = memcellRuns(data, "show", "planner", "long", ...alice);
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  expect(stdout.split("\n").map((line) => line.slice(65))).toEqual([...messages.map((each) => each.trim()), ""]);
  const json = memcellRuns(data, "show", "planner", "long", "--json", "--last", "1001", ...alice).stdout;
  const shown = json.split("\n").slice(0, -1);
  expect(shown.map((line) => (JSON.parse(line) as { data: object }).data)).toEqual(
    messages.slice(-1001).map((message) => ({ message })),
  );
});

test("list prints the runs of all pages", () => {
  const line = `{"type":"planner_note","timestamp":"2026-01-01T10:00:00Z","data":{"note":"x"},"labels":{}}\n`;
  const names = Array.from({ length: 1_001 }, (_, at) => `r${at + 1_000}`);
  writeUserFiles(data, { bob: Object.fromEntries(names.map((name) => [`runs/a/${name}/000001.jsonl`, line])) });
  const { stdout, stderr } = memcellRuns(data, "list", "--user", "bob", "--json");
  expect(stderr).toBe("");
  expect((JSON.parse(stdout) as { runId: string }[]).map(({ runId }) => runId)).toEqual(names);
});

test("show ends quietly when its reader has read enough", () => {
  const show = `"$0" "$1" runs show planner long --user alice --data "it's data"`;
  const { stdout, stderr } = shell(`{ ${show}; echo "exit code $?" >&2; } | head -1`);
  expect(stderr).toBe("exit code 0\n");
  expect(stdout).toMatch(/^2026-01-01T10:00:00.1Z {8} {2}user_message .* 0 東京 [^\n]*\n$/);
});

test("on a terminal, a line is as wide as the terminal at most", async (context) => {
  const reason = whyNoTerminal();
  if (reason !== null) skipWithReason(context, reason);
  const command = [process.execPath, program, "runs", "show", "planner", "long", "--data", data, ...alice];
  const environment = { ...process.env, CI: "true" };
  const { status, terminal } = await runOnTerminal(command, { environment, columns: 90, hasOutput: true });
  expect(status).toBe(0);
  const lines = terminal.split("\r\n");
  expect(lines.pop()).toBe("");
  expect(lines).toHaveLength(messages.length);
  for (const line of lines) expect(line).toMatch(/…$/);
  expect(new Set(lines.map((line) => stringWidth(line)))).toEqual(new Set([89, 90]));
});

test("delete prints the command that brings the run back", async () => {
  const user = "o'neil";
  await storeRuns(data, user, [{ agentId: "-a", runId: "r", events: [event("planner_note", "00", { note: "x" })] }]);
  const { status, stdout } = memcellRuns(data, "delete", "--user", user, "--", "-a", "r");
  expect({ status, stdout }).toEqual({
    status: 0,
    stdout: expect.stringMatching(/^2 files, \d+ bytes moved to the trash\nTo bring the run back: memcell /) as string,
  });
  expect(memcellRuns(data, "list", "--user", user).stdout).toBe("No runs\n");
  const [, line = ""] = /^To bring the run back: memcell (.*)\n$/m.exec(stdout) ?? [];
  const restored = shell(`"$0" "$1" ${line}`);
  expect(restored).toMatchObject({ status: 0, stderr: "", stdout: expect.stringContaining("-a/r/run.") as string });
  expect(memcellRuns(data, "list", "--user", user).stdout).toContain("-a     r         1  2026-01-01");
  expect(memcellRuns(data, "show", "--user", user, "--", "-a", "r").stdout).toMatch(/^2026\S+ +planner_note .* x\n$/);
});

test("a damaged run is shown without its damaged lines, and its files are named when it is deleted", () => {
  const line = `{"type":"planner_note","timestamp":"2026-01-01T10:00:00Z","data":{"note":"x"},"labels":{}}`;
  writeUserFiles(data, { eve: { "runs/a/r/000001.jsonl": `${line}\ntorn` } });
  const shown = memcellRuns(data, "show", "a", "r", "--user", "eve");
  expect(shown).toMatchObject({ status: 0, stdout: expect.stringMatching(/^2026\S+ +planner_note .* x\n$/) as string });
  expect(shown.stderr).toBe('memcell runs: some lines are no events; "memcell doctor" names them\n');
  const { stdout } = memcellRuns(data, "delete", "a", "r", "--user", "eve");
  expect(stdout).toMatch(/^1 file, \d+ bytes moved to the trash\n.* a\/r\/000001\.\w+Z\.jsonl\n$/);
});

test.for([
  { args: ["show", "", "", ...alice], code: "AGENT_ID_REQUIRED" },
  { args: ["show", "planner", "", ...alice], code: "RUN_ID_REQUIRED" },
])("runs $args is a coded error: $code", ({ args, code }) => {
  const { status, stdout, stderr } = memcellRuns(data, ...args);
  expect({ status, stderr }).toEqual({ status: 1, stderr: "" });
  expect(JSON.parse(stdout)).toMatchObject({ ok: false, error: { code } });
});

test("its plugin is loaded whatever the setting names, and a policy without it is an error that names it", () => {
  const listed = memcellRuns(data, "list", ...alice);
  expect(memcellRuns(data, "list", "--plugin", "journal", ...alice)).toMatchObject({ stdout: listed.stdout });
  const policy = join(folder.path, "journal.json");
  writeFileSync(policy, JSON.stringify(policyFor([shippedPlugin("journal")])));
  const { stdout } = memcellRuns(data, "list", "--plugin", "journal", "--policy", policy, ...alice);
  const message = expect.stringContaining('does not name the plugin "run-history"') as string;
  expect(JSON.parse(stdout)).toMatchObject({ error: { code: "TOOL_UNKNOWN", message } });
});

test.for([
  { args: [], says: "list|show|delete" },
  { args: ["burn"], says: 'no action "burn", allowed: list, show, delete' },
  { args: ["list", "planner"], says: 'unexpected argument "planner"' },
  { args: ["list", "--last", "3"], says: "--last is for show" },
  { args: ["list", "--type", "thinking"], says: "--type is for show" },
  { args: ["show"], says: "the ids of the agent and of the run are missing" },
  { args: ["show", "planner"], says: "the id of the run is missing" },
  { args: ["show", "planner", "run-1", "more"], says: 'unexpected argument "more"' },
  { args: ["show", "planner", "run-1", "--agent", "a"], says: "--agent is for list" },
  { args: ["show", "planner", "run-1", "--last", "0"], says: '--last is "0", allowed: a whole number from 1' },
  { args: ["show", "planner", "run-1", "--last", "2x"], says: '--last is "2x"' },
  { args: ["show", "planner", "run-1", "--type", "chat"], says: '--type is "chat", allowed: user_message, ' },
  { args: ["delete", "planner"], says: "the id of the run is missing" },
  { args: ["delete", "planner", "run-1", "--json"], says: "--json is for list and show" },
])("runs $args is a usage error", ({ args, says }) => {
  const { status, stdout, stderr } = memcellRuns(data, ...args, ...alice);
  expect({ status, stdout }).toEqual({ status: 2, stdout: "" });
  expect(stderr).toContain(says);
});
