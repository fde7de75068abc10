/**
 * A clock that jumps ahead hides what ends by time, and removes nothing: put back, all is there again. Only a later
 * reading, in another process or an hour on, removes it.
 */
import { fork } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

import type { Runtime } from "memcell";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { oneIn } from "../stage/seed.ts";
import { steppedUptime } from "../support/stepped-uptime.ts";
import type { SteppedUptime } from "../support/stepped-uptime.ts";
import { dayMs, inRun, openGateStage, owner, read, save, waits, web } from "./gate-stage.ts";
import type { GateStage } from "./gate-stage.ts";

const startMs = Date.UTC(2026, 5, 1);
const idsOf = async (runtime: Runtime, userId: string): Promise<string[]> =>
  (await runtime.upkeep.pending(owner(userId))).map(({ id }) => id);

/** Another process, whose clock shows a time, makes a write wait, and a run that reads. */
async function inAnotherProcess(path: string, userId: string, nowMs: number): Promise<void> {
  const script = fileURLToPath(new URL("../../dist/test/gate/clocked-process.js", import.meta.url));
  const child = fork(script, [path, userId, String(nowMs)]);
  const [code] = await once(child, "exit");
  expect(code).toBe(0);
}

describe.for(["files", ...oneIn(2, ["memory", "PostgreSQL"] as const)] as const)("in %s", (kind) => {
  let stage: GateStage;
  let runtime: Runtime;
  let uptime: SteppedUptime;
  let nowMs = startMs;
  beforeAll(async () => {
    uptime = steppedUptime();
    stage = await openGateStage(kind);
    runtime = await stage.open({ clock: () => nowMs });
  });
  afterAll(async () => {
    await stage[Symbol.asyncDispose]();
    uptime[Symbol.dispose]();
  });

  test("a write that waits is hidden, and comes back", async () => {
    const first = await waits(save(runtime, "a", web("hidden")));
    for (const jumpDays of [40, 41]) {
      nowMs = startMs + jumpDays * dayMs;
      expect(await idsOf(runtime, "hidden")).not.toContain(first);
      const approving = runtime.upkeep.approve(owner("hidden"), first);
      await expect(approving).rejects.toMatchObject({ code: "ENTRY_NOT_FOUND" });
      await waits(save(runtime, `b-${jumpDays}`, web("hidden")));
      await waits(save(runtime, `c-${jumpDays}`, web("hidden")));
      nowMs = startMs;
      expect(await idsOf(runtime, "hidden")).toContain(first);
      // A reading that has proved wrong is of no use for a later one.
      await waits(save(runtime, `d-${jumpDays}`, web("hidden")));
      uptime.step(2 * 3_600_000);
    }
    nowMs = startMs - 400 * dayMs;
    await waits(save(runtime, "e", web("hidden")));
    nowMs = startMs;
    expect(await runtime.upkeep.approve(owner("hidden"), first)).toMatchObject({ applied: true });
  });

  test("a write that has waited too long is removed when an hour on agrees", async () => {
    const first = await waits(save(runtime, "a", web("removed")));
    nowMs = startMs + 40 * dayMs;
    await waits(save(runtime, "b", web("removed")));
    uptime.step(3_600_000);
    await waits(save(runtime, "c", web("removed")));
    nowMs = startMs;
    expect(await idsOf(runtime, "removed")).not.toContain(first);
  });

  test("what a run has read counts again when the clock is put back", async () => {
    await stage.poison("reader");
    await read(runtime, "page", inRun("reader", "r"));
    for (const jumpDays of [100, 101]) {
      nowMs = startMs + jumpDays * dayMs;
      expect(await save(runtime, `a-${jumpDays}`, inRun("reader", "r"))).toMatchObject({ ok: true });
      await read(runtime, "page", inRun("reader", `other-${jumpDays}`));
      nowMs = startMs;
      await waits(save(runtime, `b-${jumpDays}`, inRun("reader", "r")));
      expect(await runtime.upkeep.inspect(owner("reader"))).toEqual([]);
    }
  });

  test("former contents stay until two days' looks agree", async () => {
    // The looks are the store's, not a user's.
    await using own = await openGateStage(kind);
    const user = owner("former");
    nowMs = startMs;
    let looking = await own.open({ clock: () => nowMs });
    for (const body of ["former", "present"]) await save(looking, "a", user, body);
    const [last] = await looking.upkeep.history(user, { path: "a.md" });
    const diff = (): Promise<unknown> => looking.upkeep.diff(user, "a", { from: "before", to: last?.seq });
    const look = async (atMs: number): Promise<void> => {
      nowMs = atMs;
      uptime.step(3_600_000);
      await save(looking, "b", user, `${atMs}`);
      await own.close();
      looking = await own.open({ clock: () => nowMs });
    };
    await look(startMs + 1_000);
    for (const jumpDays of [100, 102]) {
      for (const [name, atMs] of [
        ["b", startMs + jumpDays * dayMs],
        ["c", startMs + 2_000],
      ] as const) {
        nowMs = atMs;
        await save(looking, name, user, `${jumpDays}`);
        await diff();
      }
    }
    for (const days of [100, 102, 102]) await look(startMs + days * dayMs);
    await expect(diff()).rejects.toMatchObject({ code: "ENTRY_NOT_FOUND" });
  });

  if (kind !== "files") return;

  test("a write whose approval a killed process had begun comes back as well", async () => {
    nowMs = startMs;
    const id = await waits(save(runtime, "a", web("killed")));
    const begun = [{ id, how: "approved", atMs: startMs, by: null }];
    writeFileSync(stage.own("killed", "pending", "decided.json"), JSON.stringify(begun));
    nowMs = startMs + 40 * dayMs;
    expect(await idsOf(runtime, "killed")).toEqual([]);
    nowMs = startMs;
    expect(await idsOf(runtime, "killed")).toEqual([id]);
  });

  test("a write that has waited too long is removed when another process agrees", async () => {
    nowMs = startMs;
    const first = await waits(save(runtime, "a", web("late")));
    nowMs = startMs + 40 * dayMs;
    await waits(save(runtime, "b", web("late")));
    await inAnotherProcess(stage.path, "late", startMs + 2 * dayMs);
    nowMs = startMs;
    expect(await idsOf(runtime, "late")).toContain(first);
    nowMs = startMs + 40 * dayMs;
    await waits(save(runtime, "c", web("late")));
    await inAnotherProcess(stage.path, "late", startMs + 40 * dayMs);
    nowMs = startMs;
    expect(await idsOf(runtime, "late")).not.toContain(first);
  });
});
