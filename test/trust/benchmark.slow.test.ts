/**
 * The public benchmark of agent-memory-guard: memcell beside a plain dictionary, by the sources that the benchmark says,
 * and as controls with other sources.
 */
import { beforeAll, describe, expect, test } from "vitest";

import { tableBelow } from "../documents/markdown-table.ts";
import { textOf } from "../documents/tracked-files.ts";
import { runBenchmark } from "./bench/benchmark.ts";
import type { Result } from "./bench/benchmark.ts";

let results: readonly Result[] = [];
beforeAll(async () => {
  results = await runBenchmark();
  console.table(results.map(rowOf));
}, 20 * 60_000);

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

function resultOf(system: Result["system"], source: string | null, approves = false): Result {
  const found = results.find((each) => each.system === system && each.source === source && each.approves === approves);
  if (found === undefined) throw new Error("The benchmark has not run it");
  return found;
}

test("by the sources that the benchmark says, no attack becomes active memory, and no honest write is lost", () => {
  expect(resultOf("memcell", null)).toMatchObject({ attacks: 15, honest: 6, active: [], lost: [], inPrompt: [] });
  const { active, lost } = resultOf("dictionary", null);
  expect([active.length, lost.length]).toEqual([15, 0]);
});

test("no reading fails, which would look like a defence", () => {
  expect(results.flatMap(({ errors }) => errors)).toEqual([]);
});

describe("controls", () => {
  test.for(["user_input", "agent_authored", "unknown"])(
    "the same attacks are stored if all comes from %s: no filter of texts is at work",
    (source) => {
      const { active, attacks, lost } = resultOf("memcell", source);
      // Its 150,000 bytes are more than an entry can have.
      expect(active).not.toContain("vol-overflow");
      expect([active.length, lost.length]).toEqual([attacks - 1, 0]);
    },
  );

  test("honest writes that come from tools wait: none is refused", () => {
    const { active, lost, waiting } = resultOf("memcell", "external_tool");
    expect(active).toEqual([]);
    expect(lost).toHaveLength(6);
    expect(waiting).toEqual(expect.arrayContaining([...lost]));
  });

  test("once their owner approves, they are in memory byte for byte", () => {
    expect(resultOf("memcell", "external_tool", true).lost).toEqual([]);
  });
});

test("the README has these figures", () => {
  expect(tableBelow(textOf("test/trust/README.md"), "The public benchmark")).toEqual(results.map(rowOf));
});
