/**
 * The public benchmark of agent-memory-guard: memcell beside a plain dictionary, by the sources that the benchmark says,
 * and as controls with other sources. The README's table has what must come out.
 */
import { expect, test } from "vitest";

import { tableBelow } from "../documents/markdown-table.ts";
import { textOf } from "../documents/tracked-files.ts";
import { runBenchmark } from "./bench/benchmark.ts";
import type { Result } from "./bench/benchmark.ts";

const sources: Readonly<Record<string, string>> = {
  null: "as the benchmark says",
  user_input: "all from the user",
  agent_authored: "all from the model",
  unknown: "nothing said",
  external_tool: "all from tools",
};

function rowOf({ system, source, approves, active, attacks, lost, honest, grade }: Result): string[] {
  const stated = `${sources[String(source)]}${approves ? ", and the owner approves" : ""}`;
  return [system, stated, `${active.length} of ${attacks}`, `${lost.length} of ${honest}`, grade];
}

test("the README has the figures, what tools write waits, and no reading fails", { timeout: 20 * 60_000 }, async () => {
  const results = await runBenchmark();
  expect(tableBelow(textOf("test/trust/README.md"), "The public benchmark")).toEqual(results.map(rowOf));
  // It would look like a defence.
  expect(results.flatMap(({ errors }) => errors)).toEqual([]);
  const ofMemcell = (source: string | null) =>
    results.find((each) => each.system === "memcell" && each.source === source && !each.approves);
  expect(ofMemcell(null)?.inPrompt).toEqual([]);
  const ofTools = ofMemcell("external_tool");
  expect(ofTools?.waiting).toEqual(expect.arrayContaining([...(ofTools?.lost ?? ["none"])]));
});
