/**
 * SIGKILL at each system call in turn, and each call failing in turn, while a log is opened, written, rotated and
 * closed. Every acknowledged record must be there, every refused one absent, and the next opening must succeed with an
 * intact log. By default every second of the failures of one call; `TEST_LONG=1` takes all.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { whyNoTracing } from "../crash/strace.ts";
import type { SystemCall } from "../crash/syscall-log.ts";
import { verifyLog } from "../stage/audit-log.ts";
import { skipWithReason } from "../support/skip-with-reason.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { twoAtATime } from "../support/two-at-a-time.ts";
import { callEntry } from "./audit-entries.ts";
import type { LogWork } from "./log-process.ts";
import { callsOf, runTraced } from "./log-processes.ts";
import { logName, recordsOf, writeRun } from "./log-under-test.ts";

const isLong = process.env["TEST_LONG"] === "1";
const reason = await whyNoTracing();

const workIn = (folder: string): LogWork => ({
  folder,
  file: join(folder, "log", logName),
  waitMs: 0,
  holds: false,
});

/** Opens the log again and returns what is wrong. `isExact`: the log holds only acknowledged records. */
async function faultsAfter(folder: string, told: readonly string[], isExact: boolean): Promise<string[]> {
  const { file } = workIn(folder);
  await writeRun(folder, [callEntry(9)], { file });
  const { findings } = verifyLog([file]);
  const records = recordsOf(join(folder, "log"));
  const found = records.flatMap((record) => (record.kind === "call" ? [record.callId] : []));
  const acknowledged = told.flatMap((line) => (/^ok \d$/.test(line) ? [`call-${line.slice(3)}`] : []));
  const missing = acknowledged.filter((id) => !found.includes(id));
  const surplus = isExact ? found.filter((id) => id !== "call-9" && !acknowledged.includes(id)) : [];
  const opened = records.findLast(({ kind }) => kind === "opened") as { missing: number } | undefined;
  return [
    ...findings.map(({ text }) => text),
    ...missing.map((id) => `${id} was acknowledged and is not there`),
    ...surplus.map((id) => `${id} was refused and is there`),
    ...told.filter((line) => line.startsWith("no ") && !/ STORAGE_(BUSY|FAILED|FULL|UNSAFE)$/.test(line)),
    ...(opened?.missing === 0 ? [] : ["the next opening misses records"]),
  ];
}

/** Runs two points at a time, each in its own folder. */
async function sweep<Point>(
  points: readonly Point[],
  folder: string,
  suffer: (point: Point, folder: string) => Promise<string[]>,
): Promise<unknown[]> {
  const failures: unknown[] = [];
  await twoAtATime(points, async (point, at) => {
    const inside = join(folder, `${at}`);
    mkdirSync(inside);
    const faults = await suffer(point, inside);
    if (faults.length > 0) failures.push({ point, faults });
  });
  return failures;
}

/** Uses an existing folder, as the sweep does, so that the calls have the same ordinals. */
function rehearse(folder: string): Promise<SystemCall[]> {
  const inside = join(folder, "rehearsal");
  mkdirSync(inside);
  return callsOf(workIn(inside), join(folder, "strace"));
}

const isChange = ({ name, text }: SystemCall): boolean =>
  name === "openat" ? text.includes("O_CREAT") : /^(mkdir|rename|write|pwrite64|ftruncate|fsync)$/.test(name);

const ofLog = ({ name, text }: SystemCall): boolean =>
  name === "write" ? text.startsWith("write(1<") : /\/log\b|audit\.jsonl/.test(text);

test("survives SIGKILL at any call", { timeout: 300_000 }, async (context) => {
  if (reason !== null) skipWithReason(context, reason);
  using folder = temporaryFolder();
  const calls = await rehearse(folder.path);
  const points = calls.filter((call) => isChange(call) && ofLog(call));
  const failures = await sweep(points, folder.path, async ({ name, ordinal }, inside) => {
    const { told, signal } = await runTraced(workIn(inside), [
      "-e",
      `trace=${name}`,
      "-e",
      `inject=${name}:signal=KILL:when=${ordinal}`,
    ]);
    const faults = await faultsAfter(inside, told, false);
    return signal === "SIGKILL" ? faults : [...faults, "it was not killed"];
  });
  console.log(`${points.length} kill points`);
  expect(failures).toEqual([]);
  expect(points.filter(({ name }) => name === "rename")).toHaveLength(1);
  expect(points.length).toBeGreaterThan(20);
});

const errors: Readonly<Record<string, readonly string[]>> = {
  openat: ["EACCES", "EMFILE", "ENOSPC"],
  mkdir: ["ENOSPC", "EACCES"],
  rename: ["ENOSPC", "EIO"],
  pwrite64: ["ENOSPC", "EIO"],
  ftruncate: ["EIO"],
  fsync: ["EIO"],
  fcntl: ["ENOLCK"],
  pread64: ["EIO"],
  getdents64: ["EIO"],
  statx: ["EIO"],
};

test.for([
  { name: "one call fails", when: (ordinal: number) => `${ordinal}`, isExact: true },
  // The remains of a refused record cannot be removed in this case, so the record can be there.
  {
    name: "a call that changes something fails, and all of its kind that follow",
    when: (ordinal: number) => `${ordinal}+`,
    isExact: false,
  },
])("$name", { timeout: 300_000 }, async ({ when, isExact }, context) => {
  if (reason !== null) skipWithReason(context, reason);
  using folder = temporaryFolder();
  const calls = await rehearse(folder.path);
  const points = calls
    .filter(
      (call) => ofLog(call) && (isExact ? call.name !== "fcntl" || call.text.includes("F_OFD_SETLK") : isChange(call)),
    )
    .flatMap((call) => (errors[call.name] ?? []).slice(isExact ? 0 : -1).map((error) => ({ call, error })))
    .filter((_, at) => isLong || !isExact || at % 2 === 0);
  const outcomes: Record<string, number> = {};
  const failures = await sweep(points, folder.path, async ({ call: { name, ordinal }, error }, inside) => {
    const injection = `inject=${name}:error=${error}:when=${when(ordinal)}`;
    const { told } = await runTraced(workIn(inside), ["-e", `trace=${name}`, "-e", injection]);
    const code =
      told
        .find((line) => line.startsWith("no "))
        ?.split(" ")
        .at(-1) ?? "ok";
    outcomes[code] = (outcomes[code] ?? 0) + 1;
    return await faultsAfter(inside, told, isExact);
  });
  console.log(`${points.length} faults: ${JSON.stringify(outcomes)}`);
  expect(failures).toEqual([]);
  expect(points.length).toBeGreaterThan(15);
});
