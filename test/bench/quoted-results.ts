/** Quotes of results in documents, made from `results/bench.json` and placed between two marks. */
import { shown, verdict } from "./print-results.ts";
import { figureAt } from "./results.ts";
import type { Results, Target } from "./results.ts";

const begin = "<!-- bench: made by `npm run bench -- --write` -->";
const end = "<!-- /bench -->";

/** The figures that each row quotes, by the keys of table and figure. */
const rows: readonly (readonly [text: string, ...figures: readonly (readonly [table: string, figure: string])[]])[] = [
  [
    "a durable upsert, against a naive durable write: on a loop device with a journaled ext4 / on this machine's disk",
    ["durable-journaled", "memcell"],
    ["durable-disk", "memcell"],
  ],
  ["its 99th percentile, against its median", ["tail-journaled", "memcell"], ["tail-disk", "memcell"]],
  [
    '`durability: "relaxed"`, against the memory tool of `@anthropic-ai/sdk`, both files',
    ["peers-journaled", "memory-tool-both"],
    ["peers-disk", "memory-tool-both"],
  ],
  [
    "the same over MCP stdio, against `server-filesystem`, both files",
    ["peers-journaled", "filesystem-both"],
    ["peers-disk", "filesystem-both"],
  ],
  [
    "the same over MCP stdio, against `server-memory`",
    ["peers-journaled", "memory-server"],
    ["peers-disk", "memory-server"],
  ],
  ["added by the sandbox with 4 KB, upsert / read", ["sandbox-upsert", "4096-ours"], ["sandbox-read", "4096-ours"]],
  ["throughput of 8 users, against 8 naive threads", ["throughput", "8-memcell"]],
  ["1,000 entries, against 10, upsert / read", ["growth-upsert", "1000"], ["growth-read", "1000"]],
  [
    "10 entries and 20,000 files in the trash, against 10 entries, upsert / read",
    ["growth-upsert", "full-trash"],
    ["growth-read", "full-trash"],
  ],
  [
    "search of a journal of 10,000 blocks, the guest's own time: a word of 20 / of all / not ASCII",
    ["journal-guest", "some"],
    ["journal-guest", "all"],
    ["journal-guest", "not-ascii"],
  ],
  [
    "search of 20 stores with 1,000 entries of 4 KB, the guest's own time: a rare word / a question / a word of all",
    ["stores-guest", "indexed-some"],
    ["stores-guest", "indexed-several"],
    ["stores-guest", "indexed-all"],
  ],
  ["an append to a run of 50,000 events, against one of 10", ["run-history-bounds", "append-long"]],
  ["a load of the last 10 of 50,000 events, against one of a run that does not exist", ["run-history-bounds", "since"]],
  ["first result of a new process, command / `createRuntime`", ["cold", "output"], ["cold", "runtime"]],
  [
    "a read beside another user's slow searches, if that user hangs up, against waits",
    ["cancelling", "victim-hangs-up"],
  ],
  ["memory of each further worker", ["memory", "further"]],
  ["the plugin / gzipped", ["size", "plain"], ["size", "zipped"]],
];

const aim = ({ bound, unit }: Target): string => `(the aim is ${bound} ${unit})`;

/** The line for the main README: the first row. */
export function costLine(results: Results): string {
  const [loop, own] = targetsOf(results, [
    ["durable-journaled", "memcell"],
    ["durable-disk", "memcell"],
  ]);
  if (loop === undefined || own === undefined) throw new RangeError("The results have no durable upsert on two disks");
  const onOwn = `${shown(own.found)} ${own.unit} the time of a naive durable write on the machine's disk ${aim(own)}`;
  return `A durable upsert takes ${onOwn}, and ${shown(loop.found)} ${loop.unit} on a loop device, where a flush is cheap ${aim(loop)}.`;
}

/** The table for `test/bench/README.md`. */
export function costTable(results: Results): string {
  const { cores, cpu, node, fileSystem } = results.machine;
  return [
    "",
    '<img src="results/bench.svg" alt="memcell compared with the naive durable write and with peers" width="700">',
    "",
    "| | found | bound | |",
    "|---|---|---|---|",
    ...rows.flatMap(([text, ...figures]) => rowOf(text, targetsOf(results, figures))),
    "",
    `${cores} cores (${cpu}), Node ${node}, ${fileSystem}; one run of ${results.rounds} rounds in which all take turns.`,
    "[bench.json](results/bench.json) has all figures.",
    "",
  ].join("\n");
}

/** Replaces the quote between a document's two marks. Throws if the document has none. */
export function replaceQuote(document: string, quote: string): string {
  const [from, to] = [document.indexOf(begin), document.indexOf(end)];
  if (from < 0 || to < from) throw new RangeError("The document has no place for results of the benchmark");
  return document.slice(0, from) + begin + quote + document.slice(to);
}

function targetsOf(results: Results, figures: readonly (readonly [string, string])[]): Target[] {
  return figures.flatMap(([table, figure]) => figureAt(results, table, figure)?.targets ?? []);
}

/** Returns no row for a figure that was not measured: some machines cannot mount a disk. */
function rowOf(text: string, targets: readonly Target[]): string[] {
  if (targets.length === 0) return [];
  const found = targets.map((each) => `${shown(each.found)} ${each.unit}`);
  const bounds = targets.map(({ kind, bound, unit }) => `${kind} ${bound} ${unit}`);
  return [`| ${text} | ${together(found)} | ${together(bounds)} | ${together(targets.map(verdict))} |`];
}

/** Joins the texts, or returns one if all are equal. */
const together = (texts: readonly string[]): string =>
  (new Set(texts).size === 1 ? texts.slice(0, 1) : texts).join(" / ");
