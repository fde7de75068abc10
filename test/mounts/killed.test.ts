/** A process is killed during a call. The mounted folder has all that is needed to finish, and only it does. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { createRuntime } from "memcell";
import { expect, test } from "vitest";

import { runKilledAt } from "../crash/run-killed-at.ts";
import { whyNoTracing } from "../crash/strace.ts";
import { skipWithReason } from "../support/skip-with-reason.ts";
import { alice, journalPuppet, list, mountedStage, play, read } from "./mounted-stage.ts";
import type { MountedStage } from "./mounted-stage.ts";

const reason = await whyNoTracing();
const workload = fileURLToPath(new URL("dist/test/mounts/killed-call.js", import.meta.resolve("memcell/package.json")));

/** Kills the process at a system call of its second change. The change is never acknowledged. */
const killAt = (stage: MountedStage, systemCall: string, ordinal: number): Promise<string> =>
  runKilledAt({ systemCall, ordinal, threads: "main" }, workload, [
    stage.dataDir,
    stage.dir,
    journalPuppet(stage.path),
  ]);

const old = { "a.md": "old", "b.md": "old" };
const whole = { "2026/c.md": "new", "a.md": "new", "b.md": "new" };

test.for([
  { name: "between the record and the first file", systemCall: "renameat2", ordinal: 1, left: old },
  { name: "between two files", systemCall: "renameat2", ordinal: 2, left: { ...old, "a.md": "new" } },
])(
  "killed $name: another host with another data folder finishes the change",
  async ({ systemCall, ordinal, left }, context) => {
    if (reason !== null) skipWithReason(context, reason);
    using stage = mountedStage();
    expect(await killAt(stage, systemCall, ordinal)).toBe("ready\n");
    // agentool, which reads every .md file below the folder, finds only whole files with their own names now.
    const names = readdirSync(stage.dir, { recursive: true, encoding: "utf8" });
    expect(names.filter((name) => /\.md$/i.test(name)).toSorted()).toEqual(["a.md", "b.md"]);
    expect(names.filter((name) => name.startsWith(".memcell/staged-")).length).toBeGreaterThan(0);
    expect(stage.files()).toEqual(left);
    {
      // A host that does not mount the folder has nothing to finish.
      await using unmounted = await stage.open({ mounts: [] });
      expect(await play(unmounted, [read("a.md"), list()])).toMatchObject({
        data: [{ content: null }, { entries: [] }],
      });
      await using doctor = await createRuntime({ dataDir: stage.dataDir, threadsMax: 1 });
      expect(await doctor.upkeep.inspect(alice)).toEqual([]);
    }
    expect(stage.files()).toEqual(left);
    const notes: string[] = [];
    await using other = await stage.open({
      dataDir: join(stage.path, "elsewhere"),
      onLog: ({ text }) => void notes.push(text),
    });
    expect(await play(other, [read("a.md"), read("2026/c.md")])).toMatchObject({
      ok: true,
      data: [{ content: "new" }, { content: "new" }],
    });
    const files = Object.entries(stage.files());
    // What recovery has replaced is in the trash.
    const [replaced, others] = [true, false].map((is) => files.filter(([path]) => path.startsWith("trash/") === is));
    expect(Object.fromEntries(others ?? [])).toEqual(whole);
    expect(replaced?.every(([, text]) => text === "old")).toBe(true);
    expect(notes.join("\n")).toContain('mounted scope "journal": recovery finished a change of 3 files');
    expect(notes.join("\n")).not.toContain(stage.path);
  },
);
