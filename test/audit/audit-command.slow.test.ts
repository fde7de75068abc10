/** `memcell audit` as a process: output, formats and exit codes. */
import { copyFileSync, linkSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { createRuntime } from "memcell";
import { afterAll, expect, test } from "vitest";

import type { LogSummary } from "../../host/audit/verify/log-summary.ts";
import type { AuditReport } from "../../host/report/report.ts";
import { policyFor } from "../support/policy-for.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { shippedNames, shippedPlugin } from "../support/test-plugin.ts";
import { callEntry } from "./audit-entries.ts";
import { writeRun } from "./log-under-test.ts";
import { runAudit } from "./run-audit.ts";
import { everyTool, resealed } from "./tamper.ts";

const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());

test("without a file, audits every shipped plugin, and each passes", () => {
  const { status, stdout, stderr } = runAudit([], folder.path);
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  const told = [...stdout.matchAll(/^file {6}(.+)\.wasm: (.+?) /gm)].map(([, file, name]) => [file, name]);
  expect(told).toEqual(shippedNames().map((name) => [name, name]));
  expect(stdout).toMatch(/\nPASS {2}.*\n$/);
});

test("--json prints reports with keys in a fixed order, and no log when none was given", () => {
  const { status, stdout } = runAudit(["--json"]);
  expect(status).toBe(0);
  const { reports, log } = JSON.parse(stdout) as { reports: AuditReport[]; log: null };
  expect(log).toBeNull();
  for (const report of reports) {
    expect(Object.keys(report)).toEqual([
      "verdict",
      "deviations",
      "narrowings",
      "artifact",
      "policy",
      "tools",
      "limits",
      "dependencies",
    ]);
    expect(Object.keys(report.artifact)).toEqual([
      "file",
      "sha256",
      "bytes",
      "imports",
      "exports",
      "memory",
      "customSections",
      "manifest",
      "deviations",
    ]);
  }
  expect(reports).toMatchObject(
    shippedNames().map((name) => ({ verdict: "PASS", deviations: [], artifact: { manifest: { name } } })),
  );
  const files = shippedNames().map((name) => shippedPlugin(name));
  expect(runAudit(["--json", ...files]).stdout).toBe(stdout);
});

test("--json of a file that fails prints the whole report and exits with 1", () => {
  const file = join(folder.path, "renamed.wasm");
  writeFileSync(file, resealed({ name: "other" }));
  const { status, stdout } = runAudit(["--json", file]);
  expect(status).toBe(1);
  const about = { about: "policy", text: expect.stringContaining('"other"') as string };
  expect(JSON.parse(stdout)).toMatchObject({
    reports: [{ verdict: "FAIL", deviations: [about], artifact: { file: "renamed.wasm" } }],
  });
});

test("--propose prints a policy under which the file passes and a runtime loads it", async () => {
  const file = join(folder.path, "own.wasm");
  writeFileSync(file, resealed({ name: "own", tools: everyTool({ scopes: ["notes"] }) }));
  expect(runAudit([file]).status).toBe(1);
  const policy = join(folder.path, "own-policy.json");
  const { status, stdout } = runAudit([file, "--propose"]);
  expect(status).toBe(0);
  writeFileSync(policy, stdout);
  expect(runAudit([file, "--policy", policy]).status).toBe(0);
  await using runtime = await createRuntime({ dataDir: folder.path, plugins: [file], policy });
  expect(runtime.tools()).toHaveLength(3);
});

test("--propose prints no policy for a file that no runtime would load", () => {
  const file = join(folder.path, "greedy.wasm");
  writeFileSync(file, resealed({ fuelPolls: 1e9 }));
  const { status, stdout } = runAudit([file, "--propose"]);
  expect(status).toBe(1);
  const error = { code: "PLUGIN_REFUSED", message: expect.stringContaining("polls of fuel") as string };
  expect(JSON.parse(stdout)).toMatchObject({ ok: false, error });
});

test("a policy that cannot be used is a coded error without a verdict", () => {
  const { status, stdout } = runAudit(["--policy", join(folder.path, "absent.json")]);
  expect(status).toBe(1);
  expect(JSON.parse(stdout)).toMatchObject({ ok: false, error: { code: "PLUGIN_REFUSED" } });
  expect(stdout).not.toContain(folder.path);
});

test.for([
  { name: "an unknown option", args: ["--fix"] },
  { name: "an empty policy", args: ["--policy", ""] },
  { name: "a proposal and a policy", args: ["--propose", "--policy", "policy.json"] },
  { name: "a proposal and an output format", args: ["--propose", "--json"] },
])("$name is a usage error", ({ args }) => {
  const { status, stdout, stderr } = runAudit(args, folder.path);
  expect({ status, stdout }).toEqual({ status: 2, stdout: "" });
  expect(stderr).toContain("memcell audit --help");
});

test("reports each of several files that cannot be loaded together", async () => {
  const files = ["own.wasm", "near.wasm"].map((name) => join(folder.path, name));
  const [own = "", near = ""] = files;
  writeFileSync(own, resealed({ name: "own" }));
  writeFileSync(near, resealed({ name: "near" }));
  const policy = join(folder.path, "both.json");
  writeFileSync(policy, runAudit([own, near, "--propose"]).stdout);
  for (const file of files) expect(runAudit([file, "--policy", policy]).status).toBe(0);
  const { status, stdout } = runAudit([own, near, "--policy", policy, "--json"]);
  expect(status).toBe(1);
  const { reports } = JSON.parse(stdout) as { reports: AuditReport[] };
  expect(reports.map(({ verdict, deviations }) => [verdict, deviations.length, deviations[1]?.text])).toEqual([
    [
      "FAIL",
      7,
      'No runtime loads it together with "near.wasm", which offers models the tool "ReadUserMemory" as well.',
    ],
    ["FAIL", 7, 'No runtime loads it together with "own.wasm", which offers models the tool "ReadUserMemory" as well.'],
  ]);
  const runtime = createRuntime({ dataDir: folder.path, plugins: files, policy });
  await expect(runtime).rejects.toThrow(
    /the plugin "own", which is loaded too, offers models the tool "UpdateUserMemory" as well/,
  );
});

test("--propose prints no policy for two files of the same plugin", () => {
  const { status, stdout } = runAudit([shippedPlugin("user-memory"), shippedPlugin("user-memory"), "--propose"]);
  expect(status).toBe(1);
  expect(stdout).toContain('another file is the plugin \\"user-memory\\" already');
});

test.for([
  { name: "an option", args: ["--\u001b]0;title\u0007"] },
  { name: "a log", args: ["verify", "a", "--\u009b2J\u202e"] },
])("$name prints only visible characters to the terminal", ({ args }) => {
  const { status, stderr } = runAudit(args);
  expect(status).toBe(2);
  expect(stderr).not.toMatch(/(?!\n)[\p{Cc}\p{Cf}]/u);
});

test("--html replaces an existing page and makes it readable by its owner only", () => {
  const page = join(folder.path, "page.html");
  writeFileSync(page, "<!DOCTYPE html><p>an old one</p>", { mode: 0o644 });
  expect(runAudit(["--html", page]).status).toBe(0);
  expect(readFileSync(page, "utf8")).toMatch(/^<!doctype html>[^]*<\/html>\s*$/);
  expect(statSync(page).mode & 0o777).toBe(0o600);
});

test.for([
  { name: "the plugin", file: "plugin.wasm", says: "a file that is not an audit page is in its place" },
  { name: "the policy", file: "policy.json", says: "a file that is not an audit page is in its place" },
  { name: "a link", file: "link.html", says: "a link is in its place" },
  {
    name: "a file with two names",
    file: "two.html",
    says: "a link or something other than a plain file is in its place",
  },
  { name: "a folder that is not there", file: "absent/page.html", says: "its folder is not there" },
])("--html never writes to $name", ({ file, says }) => {
  using place = temporaryFolder();
  const at = (name: string): string => join(place.path, name);
  const page = "<!doctype html>";
  copyFileSync(shippedPlugin("user-memory"), at("plugin.wasm"));
  for (const name of ["aim.html", "one.html"]) writeFileSync(at(name), page);
  linkSync(at("one.html"), at("two.html"));
  symlinkSync(at("aim.html"), at("link.html"));
  writeFileSync(at("policy.json"), JSON.stringify(policyFor([at("plugin.wasm")])));
  const before = ["plugin.wasm", "policy.json", "aim.html", "one.html"].map((name) => readFileSync(at(name)));
  const { status, stdout } = runAudit([at("plugin.wasm"), "--policy", at("policy.json"), "--html", at(file)]);
  expect(status).toBe(1);
  expect(stdout).toContain(`Cannot write the page: ${says}`);
  expect(["plugin.wasm", "policy.json", "aim.html", "one.html"].map((name) => readFileSync(at(name)))).toEqual(before);
});

test("--log with --html and --json shows the calls of each user", async () => {
  using place = temporaryFolder();
  const [log, page] = [join(place.path, "audit.jsonl"), join(place.path, "page.html")];
  await writeRun(place.path, [callEntry(1, { userId: "ann" }), callEntry(2, { userId: "ann", code: "BUSY" })]);
  const { status, stdout } = runAudit(["user-memory", "--log", log, "--html", page]);
  expect(status).toBe(0);
  expect(stdout).toMatch(/\nusers {2}calls {2}failed .*\nann {8}2 {7}1 /);
  expect(readFileSync(page, "utf8")).toMatch(/<h3>Calls per user<\/h3>[^]*<bdi>ann<\/bdi>[^]*<h3>Calls<\/h3>/);
  const { log: summary } = JSON.parse(runAudit(["user-memory", "--log", log, "--json"]).stdout) as { log: LogSummary };
  expect(summary.callsByUser).toMatchObject([{ userId: "ann", calls: 2, failed: 1, written: 2 }]);
  expect(summary.latestCalls).toMatchObject([{ callId: "call-1" }, { callId: "call-2", code: "BUSY" }]);
});

test("prints no colours when stdout is not a terminal, whatever the environment says", () => {
  const { stdout } = runAudit([], folder.path, { FORCE_COLOR: "3", COLORTERM: "truecolor", TERM: "xterm-256color" });
  expect(stdout).not.toContain("\u001b");
});

test("--help has examples and exit codes", () => {
  const { status, stdout } = runAudit(["--help"]);
  expect(status).toBe(0);
  expect(stdout).toMatch(/Examples:\n {2}memcell audit/);
  expect(stdout).toContain("Exit codes");
});
