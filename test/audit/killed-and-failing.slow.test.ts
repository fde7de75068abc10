/**
 * SIGKILL at each system call in turn, and each call failing in turn, while a log is opened, written, rotated and closed.
 * Every acknowledged record must be there, every refused one absent, and the next opening must succeed with an intact
 * log. By default a part of the points, by the seed; `TEST_LONG=1` takes all.
 */
import { spawnSync } from "node:child_process";
import { join } from "node:path";

import { expect, test } from "vitest";

import { whyNoTracing } from "../crash/strace.ts";
import type { SystemCall } from "../crash/syscall-log.ts";
import { memcell } from "../stage/command.ts";
import { isLong, oneIn } from "../stage/seed.ts";
import { program } from "../stage/serve-lines.ts";
import { skipWithReason } from "../support/skip-with-reason.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { twoAtATime } from "../support/two-at-a-time.ts";
import { upsert } from "./audited-stage.ts";
import { callsOf, runTraced } from "./log-processes.ts";
import { kindsOf, logName, recordsOf, smallestFile, told, verify, writeRun } from "./written-log.ts";

const reason = await whyNoTracing();

/** A folder whose log has room for two more long records in its file, and what a process is to do there. */
async function begin(folder: string): Promise<Parameters<typeof runTraced>[0]> {
  const file = join(folder, "log", logName);
  await writeRun(folder, [21, 22, 23, 24, 25, 26, 27, 28, 29], { file, isLong: true, fileBytesMax: smallestFile });
  return { folder, file, waitMs: 1, holds: false };
}

/** Opens the log again and returns what is wrong. `isExact`: the log holds only acknowledged records. */
async function faultsAfter(file: string, said: readonly string[], isExact: boolean): Promise<string[]> {
  await writeRun(join(file, "../.."), [9], { file });
  const records = recordsOf(join(file, ".."));
  const found = records.flatMap((record) => (record.kind === "call" ? [record.callId] : []));
  const acknowledged = said.flatMap((line) => (/^ok \d$/.test(line) ? [`call-${line.slice(3)}`] : []));
  const missing = acknowledged.filter((id) => !found.includes(id));
  const surplus = isExact ? found.filter((id) => /^call-[1-4]$/.test(id) && !acknowledged.includes(id)) : [];
  const opened = records.findLast((record) => record.kind === "opened");
  return [
    ...told(await verify(file)),
    ...missing.map((id) => `${id} was acknowledged and is not there`),
    ...surplus.map((id) => `${id} was refused and is there`),
    ...said.filter((line) => line.startsWith("no ") && !/ STORAGE_(BUSY|FAILED|FULL|UNSAFE)$/.test(line)),
    ...(opened?.missing === 0 ? [] : ["the next opening misses records"]),
  ];
}

interface Injection {
  readonly name: string;
  /** What strace does at the call, after its name. */
  readonly effect: string;
}

/** Runs two points at a time, each in its own folder, and returns those after which something is wrong. */
async function sweep(points: readonly Injection[], isExact: boolean): Promise<unknown[]> {
  using folder = temporaryFolder();
  const failures: unknown[] = [];
  await twoAtATime(points, async ({ name, effect }, at) => {
    const work = await begin(join(folder.path, `${at}`));
    const { told: said, signal } = await runTraced(work, ["-e", `trace=${name}`, "-e", `inject=${name}:${effect}`]);
    const faults = await faultsAfter(work.file, said, isExact);
    if ((signal === "SIGKILL") !== effect.startsWith("signal=KILL")) faults.push(`it ended with ${signal}`);
    if (faults.length > 0) failures.push({ name, effect, faults });
  });
  console.log(`${points.length} points`);
  return failures;
}

/** The calls of a run in which nothing fails that are about the log. */
async function rehearse(): Promise<SystemCall[]> {
  using folder = temporaryFolder();
  const calls = await callsOf(await begin(join(folder.path, "0")), join(folder.path, "strace"));
  return calls.filter(({ text }) => /\/log\b|audit\.jsonl/.test(text) && !text.includes("/warm"));
}

const isChange = ({ name, text }: SystemCall): boolean =>
  name === "openat" ? text.includes("O_CREAT") : /^(mkdir|rename|pwrite64|ftruncate|fsync|fdatasync)$/.test(name);

const errors: Readonly<Record<string, readonly string[]>> = {
  openat: ["EACCES", "EMFILE", "ENOSPC"],
  mkdir: ["ENOSPC", "EACCES"],
  rename: ["ENOSPC", "EIO"],
  pwrite64: ["ENOSPC", "EIO"],
  ftruncate: ["EIO"],
  fsync: ["EIO"],
  fdatasync: ["EIO"],
  fcntl: ["ENOLCK"],
  pread64: ["EIO"],
  getdents64: ["EIO"],
  statx: ["EIO"],
};

const kill = ({ name, ordinal }: SystemCall): Injection[] => [{ name, effect: `signal=KILL:when=${ordinal}` }];
const fail = ({ name, ordinal }: SystemCall): Injection[] =>
  (errors[name] ?? []).map((error) => ({ name, effect: `error=${error}:when=${ordinal}` }));
const failOnwards = ({ name, ordinal }: SystemCall): Injection[] =>
  (errors[name] ?? []).slice(-1).map((error) => ({ name, effect: `error=${error}:when=${ordinal}+` }));

const isTried = (call: SystemCall): boolean => call.name !== "fcntl" || call.text.includes("F_OFD_SETLK");

test.for([
  { name: "is killed at a call", parts: 2, isMet: isChange, effects: kill, isExact: false },
  { name: "has one call fail", parts: 4, isMet: isTried, effects: fail, isExact: true },
  // The remains of a refused record cannot be removed then, so the record can be there.
  { name: "has all calls of a kind fail from one on", parts: 2, isMet: isChange, effects: failOnwards, isExact: false },
])("a writer $name", { timeout: 600_000 }, async ({ parts, isMet, effects, isExact }, context) => {
  if (reason !== null) skipWithReason(context, reason);
  const calls = (await rehearse()).filter(isMet);
  expect(calls.filter(({ name }) => name === "rename")).toHaveLength(1);
  expect(calls.length).toBeGreaterThan(15);
  expect(await sweep(oneIn(isLong ? 1 : parts, calls.flatMap(effects)), isExact)).toEqual([]);
});

test("a command that is killed at its commit leaves the record of what it was about to change", async (context) => {
  if (reason !== null) skipWithReason(context, reason);
  using folder = temporaryFolder();
  const [dataDir, logFolder] = [join(folder.path, "data"), join(folder.path, "log")];
  const file = join(logFolder, logName);
  const options = ["--user", "alice", "--data", dataDir, "--audit-log", file];
  const command = (name: string) => ["call", "UpdateUserMemory", ...options, "--input", JSON.stringify(upsert(name))];
  expect((await memcell(command("a"))).status).toBe(0);
  // Before it is closed, the log is flushed only when a file of it is full.
  const killing = ["-f", "-o", "/dev/null", "-e", "trace=fdatasync", "-e", "inject=fdatasync:signal=KILL:when=1"];
  const killed = spawnSync("strace", [...killing, process.execPath, program, ...command("b")]);
  expect(killed.stdout.toString()).toBe("");
  const kinds = ["opened", "staged", "call", "closed", "opened", "staged"];
  expect(kindsOf(logFolder)).toEqual(kinds);
  expect(recordsOf(logFolder).at(-1)).toMatchObject({
    userId: "alice",
    tool: "UpdateUserMemory",
    writes: [{ path: "b.md" }, { path: "MEMORY.md" }],
  });
  // The next process finishes what is in the journal. The log has named its files already.
  expect((await memcell(["call", "ReadUserMemory", ...options, "--input", '{"name":"b"}'])).status).toBe(0);
  expect(kindsOf(logFolder).slice(kinds.length)).toEqual(["opened", "call", "closed"]);
  expect(told(await verify(file))).toEqual([]);
});
