import { median, quantile } from "../statistics.ts";
import { shown } from "../targets.ts";
import type { Running } from "./contestants.ts";
import type { Done, Kind } from "./work.ts";

/** Prints a table of one kind of work: medians of the rounds, and ratios to the naive way and to the first build. */
export function printKind(kind: Kind, running: readonly Running[], found: ReadonlyMap<string, readonly Done[]>): void {
  const rows = running.flatMap(({ name }) => {
    const rounds = found.get(`${kind} ${name}`);
    return rounds ? [{ name, ...summaryOf(rounds) }] : [];
  });
  const first = rows.find(({ name }) => name !== "naive");
  const naive = rows.find(({ name }) => name === "naive");
  console.log(`\n**${kind}**\n`);
  console.log("| | median, ms | p99 | a second | naive | first | main thread, ms a call | other threads |");
  console.log("|---|---|---|---|---|---|---|---|");
  for (const { name, middle, p99, rate, mainMs, othersMs } of rows) {
    const ratios = [naive, first].map((other) => (other ? `${shown(rate / other.rate)} ×` : "–"));
    const cells = [name, shown(middle), shown(p99), rate.toFixed(0), ...ratios, mainMs.toFixed(3), othersMs.toFixed(3)];
    console.log(`| ${cells.join(" | ")} |`);
  }
}

function summaryOf(rounds: readonly Done[]) {
  const of = (value: (done: Done) => number): number => median(rounds.map(value));
  return {
    middle: of(({ times }) => median([...times])),
    p99: of(({ times }) => quantile([...times], 0.99)),
    rate: of(({ times, elapsedMs }) => (times.length / elapsedMs) * 1000),
    mainMs: of(({ times, mainMs }) => mainMs / times.length),
    othersMs: of(({ times, othersMs }) => othersMs / times.length),
  };
}
