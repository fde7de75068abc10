/**
 * Several processes on one data folder: no call is lost or done twice, and no process starves.
 *
 * Each caller has its own entries and knows the right answer of every call. At the end, the disk must hold exactly what
 * all callers know together: entries, index lines, and the trash. By default 16,000 calls, with `TEST_LONG=1` 40,000, with
 * `TEST_SEEDED=1` 8,000.
 */
import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";

import { expect, test } from "vitest";

import { isLong } from "../stage/seed.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { readUserFiles } from "../support/user-files.ts";
import { describe, usersCount } from "./caller.ts";
import type { CallerReport } from "./caller.ts";

const processesCount = 4;
const callersCount = 8;
const callsCount = isLong ? 1250 : process.env["TEST_SEEDED"] ? 250 : 500;
const allCalls = processesCount * callersCount * callsCount;
/** The highest allowed ratio of two processes' median waits. A starving process waits many times as long. */
const medianRatioMax = 3;

const script = fileURLToPath(new URL("../../dist/test/hammer/calling-process.js", import.meta.url));

interface ProcessReport {
  readonly reports: CallerReport[];
  readonly notes: string[];
}

interface CallingProcess {
  readonly ready: Promise<void>;
  readonly report: Promise<ProcessReport>;
  start(): void;
}

test(
  `4 processes with 32 callers make ${allCalls} calls for 20 users without a fault`,
  { timeout: 1_800_000 },
  async () => {
    using folder = temporaryFolder();
    const processes = Array.from({ length: processesCount }, (_, at) => startProcess(folder.path, `p${at}`));
    await Promise.all(processes.map(({ ready }) => ready));
    const startMs = performance.now();
    for (const each of processes) each.start();
    const ended = await Promise.all(processes.map(({ report }) => report));
    const seconds = (performance.now() - startMs) / 1000;
    const callers = ended.flatMap(({ reports }) => reports);
    printSummary(ended, seconds);

    expect(callers.flatMap(({ faults }) => faults)).toEqual([]);
    expect(ended.flatMap(({ notes }) => notes)).toEqual([]);
    expect(callers.flatMap(({ waits }) => waits)).toHaveLength(allCalls);
    for (let user = 0; user < usersCount; user++) expectFilesOf(folder.path, `user-${user}`, callers);
    // Only medians are compared: a single call that waits over 30 s is `BUSY`, which is a fault already.
    const medians = ended.map(({ reports }) => quantileOf(waitsOf(reports), 0.5)).toSorted((a, b) => a - b);
    expect((medians.at(-1) ?? 0) / (medians[0] ?? 1)).toBeLessThan(medianRatioMax);
  },
);

function startProcess(dataDir: string, id: string): CallingProcess {
  const child = fork(script, [dataDir, id, `${callersCount}`, `${callsCount}`]);
  const failed = new Promise<never>((_resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (code, signal) => reject(new Error(`The process ${id} ended with ${code ?? signal}`)));
  });
  const nextMessage = <T>(): Promise<T> =>
    Promise.race([failed, new Promise<T>((resolve) => child.once("message", (message) => resolve(message as T)))]);
  const ready = nextMessage<void>();
  const report = ready.then(() => nextMessage<ProcessReport>());
  return { ready, report, start: () => void child.send("start") };
}

/** Compares the disk with the callers' knowledge, file by file and line by line. */
function expectFilesOf(dataDir: string, userId: string, callers: readonly CallerReport[]): void {
  const files = readUserFiles(dataDir, userId);
  const alive = callers.flatMap((caller) => caller.alive).filter((entry) => entry.userId === userId);
  const trashed = callers.flatMap((caller) => caller.trashed).filter((entry) => entry.userId === userId);
  const index = files["memory/MEMORY.md"] ?? "";
  const lines = alive.map(({ name }) => `- [${name}](${name}.md) — ${describe(userId, name)}`);
  expect(index.split("\n").filter(Boolean).toSorted()).toEqual(lines.toSorted());
  const expected = new Map([
    ...alive.map((entry) => [`memory/${entry.name}.md`, entry] as const),
    ...trashed.map((entry) => [`memory/${entry.path}`, entry] as const),
  ]);
  // Fails if two deletes named the same file.
  expect(expected.size).toBe(alive.length + trashed.length);
  const present = Object.keys(files).filter((path) => path !== "memory/MEMORY.md");
  expect(present).toEqual([...expected.keys()].toSorted());
  for (const [path, { name, body, created }] of expected) {
    const text = files[path] ?? "";
    expect(text.split("---\n").at(-1)).toBe(body);
    expect(text).toContain(`name: ${name}\n`);
    if (created) expect(text).toContain(created);
  }
}

function printSummary(ended: readonly ProcessReport[], seconds: number): void {
  const callers = ended.flatMap(({ reports }) => reports);
  const waits = waitsOf(callers);
  const counts = new Map<string, number>();
  for (const { calls } of callers) {
    for (const [kind, count] of Object.entries(calls)) counts.set(kind, (counts.get(kind) ?? 0) + count);
  }
  const kinds = Array.from(counts, ([kind, count]) => `${count} ${kind}`).join(", ");
  const [p50, p99] = [0.5, 0.99].map((share) => quantileOf(waits, share).toFixed(0));
  const longest = ended.map(({ reports }) => quantileOf(waitsOf(reports), 1).toFixed(0)).join(", ");
  const speed = `${seconds.toFixed(0)} s, ${(waits.length / seconds).toFixed(0)} calls/s`;
  console.log(`${kinds}; ${speed}; waits: median ${p50}, p99 ${p99}, longest by process ${longest} ms`);
}

const waitsOf = (callers: readonly CallerReport[]): number[] => callers.flatMap(({ waits }) => waits);

function quantileOf(waits: readonly number[], share: number): number {
  const sorted = waits.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}
