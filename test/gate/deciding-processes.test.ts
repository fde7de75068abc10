/** Two processes decide about the same write at the same moment: one corrects it, the other one rejects or corrects it. */
import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

import { expect, test } from "vitest";

import type { ToDecide } from "./deciding-process.ts";
import { openGateStage, owner, save, waits, web } from "./gate-stage.ts";

const script = fileURLToPath(new URL("../../dist/test/gate/deciding-process.js", import.meta.url));

test("what one process applies, no other one has rejected, and nothing is applied twice", async () => {
  await using stage = await openGateStage("files");
  const runtime = await stage.open();
  const { upkeep } = runtime;
  const alice = owner("alice");
  const processes = [0, 1].map(() => fork(script, [stage.path, "alice"]));
  try {
    await Promise.all(processes.map((each) => once(each, "message")));
    for (let round = 0; round < 8; round++) {
      const id = await waits(save(runtime, "n", web("alice"), "of a page"));
      const { files } = await upkeep.showPending(alice, id);
      const shown = files.find(({ isDerived }) => !isDerived)?.text ?? "";
      // Each is the first one to be told in its turn, and the other one rejects in every second round.
      const texts = [0, 1].map((by) =>
        by === 1 && round % 4 < 2 ? null : shown.replace("of a page", `${by} ${round}`),
      );
      const inOrder = processes.map((each, by) => ({
        each,
        by,
        told: { id, text: texts[by] ?? null } satisfies ToDecide,
      }));
      const decided = inOrder.map(async ({ each, by }) => ({ by, failure: String((await once(each, "message"))[0]) }));
      for (const { each, told } of round % 2 === 0 ? inOrder : inOrder.toReversed()) each.send(told);
      const [won, ...others] = (await Promise.all(decided)).toSorted((a, b) => a.failure.length - b.failure.length);
      expect(won?.failure).toBe("");
      const text = texts[won?.by ?? 0] ?? null;
      expect(others.map(({ failure }) => failure).join("")).toMatch(
        text === null ? /was rejected at/ : /was approved at/,
      );
      const found = (await upkeep.export(alice)).files.find(({ path }) => path === "n.md");
      expect(found?.content.toString() === text).toBe(text !== null);
      expect(await upkeep.pending(alice)).toEqual([]);
    }
    const versions = await upkeep.history(alice, { path: "n.md" });
    expect(new Set(versions.map(({ kind }) => kind))).toEqual(new Set(["corrected"]));
    expect(await upkeep.inspect(alice)).toEqual([]);
  } finally {
    for (const each of processes) each.disconnect();
    await Promise.all(processes.map((each) => once(each, "exit")));
  }
});
