/** Two processes edit the same shared stores: no edit is lost, and nobody sees half of one. */
import { fork } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { expect, test } from "vitest";

import { temporaryFolder } from "../support/temporary-folder.ts";
import { sharedStores } from "./store-sharer.ts";
import type { SharerReport } from "./store-sharer.ts";

const sharersCount = 4;
const editsCount = process.env["TEST_SEEDED"] ? 60 : 250;

const script = fileURLToPath(new URL("../../dist/test/hammer/sharing-process.js", import.meta.url));

interface ProcessReport {
  readonly reports: readonly SharerReport[];
  readonly notes: readonly string[];
}

test(
  "2 processes with 8 callers make 2,000 edits of 5 stores without a lost update",
  { timeout: 600_000 },
  async () => {
    using folder = temporaryFolder();
    const processes = [1, 2].map((id) => fork(script, [folder.path, `${id}`, `${sharersCount}`, `${editsCount}`]));
    await Promise.all(processes.map((child) => once(child, "message")));
    const startMs = performance.now();
    const ended = processes.map(async (child) => {
      const [report] = (await Promise.race([once(child, "message"), diedEarly(once(child, "exit"))])) as [
        ProcessReport,
      ];
      return report;
    });
    for (const child of processes) child.send("start");
    const found = await Promise.all(ended);
    const seconds = (performance.now() - startMs) / 1000;

    const reports = found.flatMap((each) => each.reports);
    expect(reports.flatMap(({ faults }) => faults)).toEqual([]);
    expect(found.flatMap(({ notes }) => notes)).toEqual([]);
    const lines = reports.flatMap((each) => each.lines);
    expect(lines).toHaveLength(processes.length * sharersCount * editsCount);
    for (const [at, id] of sharedStores.entries()) {
      const letter = String.fromCharCode(97 + at);
      const named = lines.filter((line) => line.split(" ").at(-1)?.includes(letter));
      const log = readFileSync(join(folder.path, "stores", id, "entries/log.md"), "utf8");
      expect(log.split("\n").slice(0, -1).toSorted()).toEqual(named.toSorted());
    }
    const [reads, runs] = [
      reports.reduce((sum, each) => sum + each.reads, 0),
      reports.reduce((sum, each) => sum + each.readRuns, 0),
    ];
    const speed = `${(lines.length / seconds).toFixed(0)} edits/s`;
    console.log(
      `${lines.length} edits in ${seconds.toFixed(0)} s, ${speed}; ${reads} reads of all stores took ${runs} runs`,
    );
  },
);

async function diedEarly(exit: Promise<unknown[]>): Promise<never> {
  throw new Error(`A process ended with ${String((await exit)[0])}`);
}
