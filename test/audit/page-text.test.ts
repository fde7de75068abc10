/** What the page says, and what it must not say. */
import { join } from "node:path";

import { expect, test } from "vitest";

import { CallsByUser } from "../../host/audit/verify/calls-by-user.ts";
import { summariseLog } from "../../host/audit/verify/summarise-log.ts";
import { htmlPage } from "../../host/report/page/html-page.ts";
import type { AuditReport } from "../../host/report/report.ts";
import { pageLimits } from "../../shared/limits.ts";
import type { AuditEntry } from "../stage/audit-log.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { callEntry, useEntry } from "./audit-entries.ts";
import { brokenLog, busyLog, quietLog } from "./log-samples.ts";
import { logName, writeRun } from "./log-under-test.ts";
import { wordsOf } from "./page-words.ts";
import { failingReport, passingReport, reportOn, unreadableReport } from "./report-samples.ts";
import { flippedFiles, tamperedFiles } from "./tampered-files.ts";

function headingsOf(page: string, level: number): string[] {
  return Array.from(page.matchAll(new RegExp(`<h${level}[^>]*>(.*?)</h${level}>`, "gs")), ([heading]) =>
    wordsOf(`<body>${heading}`).trim(),
  );
}

test("htmlPage keeps the order in which a reviewer asks", () => {
  const page = htmlPage([passingReport()], busyLog());
  expect(headingsOf(page, 1)).toEqual(["memcell audit"]);
  expect(headingsOf(page, 2)).toEqual(["user-memory.wasm", "Audit log"]);
  expect(wordsOf(page)).toMatch(/It also has a page of [\d,]+ bytes \([\d.]+ KiB\), which is in the JSON report\./);
  expect(headingsOf(page, 3)).toEqual([
    "Verdict",
    "Identity",
    "Capabilities",
    "Imports",
    "What it cannot do",
    "Inside the file",
    "Limits",
    "Dependencies",
    "Verification",
    "Calls per tool",
    "Calls per user",
    "Timeline",
    "Denials",
    "Refused requests",
    "Calls",
  ]);
});

test("htmlPage returns the same bytes for the same report", () => {
  expect(htmlPage([passingReport()], busyLog())).toBe(htmlPage([passingReport()], busyLog()));
});

const passing = passingReport();
const failing = failingReport();

const sentences: readonly { name: string; page: string; says: readonly string[]; saysNot: readonly string[] }[] = [
  {
    name: "a plugin that passes",
    page: htmlPage([passing], null),
    says: [
      "PASS The file matches its manifest",
      passing.artifact.sha256,
      passing.policy.sha256,
      "version 0.1.0",
      "Pinned",
      "no WASI",
      "no clock except clock_now",
      "pages of 64 KiB",
      "memcell:manifest",
      "2,500 in a call",
      "gray-matter",
      "3 packages linked into this file",
    ],
    saysNot: ["FAIL", "Audit log", "Unknown to the ABI"],
  },
  {
    name: "a plugin that deviates",
    page: htmlPage([failing], null),
    says: [
      "FAIL 5 deviations.",
      ...failing.deviations.map(({ text }) => text),
      "To another file.",
      "Unknown to the ABI",
      "wasi_snapshot_preview1",
      "Nothing can be said about this file: it has 1 import that the ABI does not know",
      "no maximum is declared",
      "not named by the policy",
      "asked for, not allowed",
      "✕asked for, not allowed the model",
      "There is no list of components for this file.",
    ],
    saysNot: ["PASS", "no WASI", "no network"],
  },
  {
    name: "a file that is no plugin",
    page: htmlPage([unreadableReport()], quietLog()),
    says: ["No import of this file could be read", "Nothing can be said about this file", "The log has no calls."],
    saysNot: ["PASS", "no WASI"],
  },
  {
    name: "a file whose manifest can be read and whose imports cannot",
    page: htmlPage([{ ...failing, artifact: { ...failing.artifact, imports: [] } }], null),
    says: ["No import of this file could be read", "Nothing can be said about this file"],
    saysNot: ["no WASI", "can call nothing else"],
  },
  {
    name: "a file that could not be read from its disk",
    page: htmlPage(
      [{ ...unreadableReport(), artifact: { ...unreadableReport().artifact, sha256: "", bytes: 0 } }],
      null,
    ),
    says: ["unknown: the file could not be read"],
    saysNot: ["PASS"],
  },
  {
    name: "a verdict that contradicts its deviations",
    page: htmlPage([{ ...failing, verdict: "PASS" }], null),
    says: ["FAIL 5 deviations."],
    saysNot: ["PASS"],
  },
  {
    name: "a log that was tampered with",
    page: htmlPage([passing], brokenLog()),
    says: ["NOT INTACT 6 findings", "Records 412 to 414 are not there.", "audit.jsonl.1, line 413", "and 4 more"],
    saysNot: ["✓ INTACT"],
  },
  {
    name: "a log that calls itself intact and has findings",
    page: htmlPage([passing], {
      ...brokenLog(),
      verification: { ...brokenLog().verification, isIntact: true },
    }),
    says: ["NOT INTACT"],
    saysNot: ["✓ INTACT"],
  },
  {
    name: "a log whose end cannot be verified",
    page: htmlPage([passing], { ...busyLog(), verification: { ...busyLog().verification, isEndKnown: false } }),
    says: ["records removed from its end would not be noticed"],
    saysNot: [],
  },
];

test.for(sentences)("htmlPage of $name", ({ page, says, saysNot }) => {
  const words = wordsOf(page);
  expect(says.filter((each) => !words.includes(each))).toEqual([]);
  expect(saysNot.filter((each) => words.includes(each))).toEqual([]);
});

test.for([...tamperedFiles, ...flippedFiles])("htmlPage of the shipped plugin with $name", ({ bytes, told }) => {
  const words = wordsOf(htmlPage([reportOn(bytes)], null));
  expect(words).toContain("✕ FAIL");
  expect(words).not.toContain("✓ PASS");
  expect(told.filter((each) => !words.includes(each))).toEqual([]);
});

test("htmlPage of a log of 10,000 calls and 200 denials that a host has written", async () => {
  using folder = temporaryFolder();
  const calls = Array.from({ length: 10_000 }, (_, at) => callEntry(at, at % 50 === 0 ? denied : {}));
  const entries = calls.flatMap((call, at) => (at % 50 === 0 ? [useEntry(at), call] : [call]));
  await writeRun(folder.path, entries);
  const page = htmlPage([passing], summariseLog([join(folder.path, logName)]));
  const words = wordsOf(page);
  expect(words).toContain("✓ INTACT 10,202 records, all present");
  expect(words).toContain("10,000 calls by 7 users, of which 200 failed");
  expect(words).toContain("200 capability uses were denied, 0 failed otherwise");
  expect(words).toContain("store_write in memory: ../../9950");
  expect(words).toContain("7 users: those with denials or refused requests first");
  expect(words).toMatch(/user-0 1,429 29 29 0 1,400 written \d{4}-/);
  expect(words).toContain("5,880 earlier calls are not listed");
  expect(words).toContain("of 4120 calls shown");
  expect(page.length).toBeLessThan(2 * 1024 * 1024);
});

test("htmlPage of 10,000 users shows those that a reviewer should see, and counts the others", () => {
  const users = new CallsByUser();
  const time = "2026-03-02T06:00:03.104Z";
  for (let at = 0; at < 10_000; at++) {
    const code = at === 9_998 ? "INPUT_INVALID" : null;
    users.addCall({ ...callEntry(at, { userId: `user-${at}`, code }), seq: at, time, prev: "" });
  }
  users.addDenial({
    ...(useEntry(1) as Extract<AuditEntry, { kind: "use" }>),
    userId: "user-9999",
    seq: 1,
    time,
    prev: "",
  });
  const words = wordsOf(htmlPage([passing], { ...busyLog(), ...users.result() }));
  expect(words).toMatch(
    /10,000 users: .* user-9999 1 0 1 .* user-9998 1 1 0 .* user-0 1 0 0 .* and 9,500 more, which are not shown/,
  );
  expect(words).not.toContain("user-9000");
});

const denied = { changes: "dropped", code: "CAPABILITY_DENIED", usesDenied: 1 } as const;

test("htmlPage says FAIL in its title when one part fails", () => {
  expect(htmlPage([passing], null)).toContain("<title>PASS: user-memory.wasm – memcell audit</title>");
  expect(htmlPage([passing, failing], null)).toContain(
    "<title>FAIL: user-memory.wasm and 1 more – memcell audit</title>",
  );
  expect(htmlPage([passing], brokenLog())).toContain("<title>FAIL: user-memory.wasm – memcell audit</title>");
});

test("shows the lowest value of each limit and who set it", () => {
  const { manifest } = passing.artifact;
  const report: AuditReport = {
    ...passing,
    artifact: { ...passing.artifact, manifest: manifest && { ...manifest, deadlineMs: 2_000 } },
    limits: { ...passing.limits, deadlineMs: 2_000, inputBytes: 1_024 },
  };
  const words = wordsOf(htmlPage([report], null));
  expect(words).toMatch(/deadlineMs 2,000 ms manifest/);
  expect(words).toMatch(/fuelPolls 20,000 polls of about 5,000 loop turns host and manifest/);
  expect(words).toMatch(/inputBytes 1,024 bytes \(1 KiB\) policy/);
  expect(words).toMatch(/stagedBytes 67,108,864 bytes \(64 MiB\) host/);
});

test("a table that is too long says how many rows it leaves out", () => {
  const dependencies = Array.from({ length: pageLimits.rowsMax + 7 }, (_, at) => {
    return { name: `package-${at}`, version: "1.0.0", licence: "MIT" };
  });
  const words = wordsOf(htmlPage([{ ...passing, dependencies }], null));
  expect(words).toContain("package-499");
  expect(words).not.toContain("package-500");
  expect(words).toContain("… and 7 more, which are not shown.");
});
