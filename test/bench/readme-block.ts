/** The part of README.md that quotes results: made from `results/bench.json`, between two marks. */
import { figureAt } from "./figure-at.ts";
import type { Results, Target } from "./results.ts";
import { shown, verdict } from "./targets.ts";

const begin = "<!-- bench: made by `npm run bench -- --write` -->";
const end = "<!-- /bench -->";

/** What each row quotes, by the keys of table and figure. */
const rows: readonly (readonly [text: string, ...figures: readonly (readonly [table: string, figure: string])[]])[] = [
  ["a durable upsert, against a naive durable write", ["durable-disk", "memcell"]],
  ["the same on an ext4 loop disk", ["durable-ext4", "memcell"]],
  [
    "against the memory tool of `@anthropic-ai/sdk`, one file / both files",
    ["peers-disk", "memory-tool"],
    ["peers-disk", "memory-tool-both"],
  ],
  [
    "over MCP stdio, against `server-filesystem` (not durable), one file / both files",
    ["peers-disk", "filesystem"],
    ["peers-disk", "filesystem-both"],
  ],
  ["over MCP stdio, against `server-memory` (not durable)", ["peers-disk", "memory-server"]],
  ["added by the sandbox with 4 KB, upsert / read", ["sandbox-upsert", "4096-ours"], ["sandbox-read", "4096-ours"]],
  ["throughput of 8 users, against 8 naive threads", ["throughput", "8-memcell"]],
  ["1,000 entries, against 10, upsert / read", ["growth-upsert", "1000"], ["growth-read", "1000"]],
  [
    "search of a journal of 10,000 blocks, the guest's own time: a word of 20 / of all / not ASCII",
    ["journal-guest", "some"],
    ["journal-guest", "all"],
    ["journal-guest", "not-ascii"],
  ],
  ["first result of a new process, command / `createRuntime`", ["cold", "output"], ["cold", "runtime"]],
  ["memory of each further worker", ["memory", "further"]],
  ["the plugin / gzipped", ["size", "plain"], ["size", "zipped"]],
];

export function readmeBlock(results: Results): string {
  const { cores, cpu, node, fileSystem } = results.machine;
  return [
    begin,
    '<img src="test/bench/results/bench.svg" alt="memcell against the naive durable write and against peers" width="700">',
    "",
    "| | found | bound | |",
    "|---|---|---|---|",
    ...rows.flatMap(([text, ...figures]) => rowOf(text, targetsOf(results, figures))),
    "",
    `${cores} cores (${cpu}), Node ${node}, ${fileSystem}; one run of ${results.rounds} rounds in which all take turns.`,
    "All figures are in [bench.json](test/bench/results/bench.json), how they are measured in [test/bench](test/bench/README.md).",
    end,
  ].join("\n");
}

/** Throws for a text without the two marks. */
export function replaceBlock(readme: string, results: Results): string {
  const [from, to] = [readme.indexOf(begin), readme.indexOf(end)];
  if (from < 0 || to < from) throw new RangeError("README.md has no place for the results of the benchmark");
  return readme.slice(0, from) + readmeBlock(results) + readme.slice(to + end.length);
}

function targetsOf(results: Results, figures: readonly (readonly [string, string])[]): Target[] {
  return figures.flatMap(([table, figure]) => figureAt(results, table, figure)?.targets ?? []);
}

/** Nothing for what was not measured: a machine may not be able to mount a disk. */
function rowOf(text: string, targets: readonly Target[]): string[] {
  if (targets.length === 0) return [];
  const found = targets.map((each) => `${shown(each.found)} ${each.unit}`);
  const bounds = targets.map(({ kind, bound, unit }) => `${kind} ${bound} ${unit}`);
  return [`| ${text} | ${together(found)} | ${together(bounds)} | ${together(targets.map(verdict))} |`];
}

/** Equal ones once. */
const together = (texts: readonly string[]): string =>
  (new Set(texts).size === 1 ? texts.slice(0, 1) : texts).join(" / ");
