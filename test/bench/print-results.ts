/** Prints results as tables for terminals and Markdown. */
import type { Figure, Results, Section, Table } from "./results.ts";
import { shown, verdict } from "./targets.ts";

export function printSection({ number, title, notes, tables }: Section): void {
  console.log(`\n## ${number}. ${title}\n`);
  for (const note of notes) console.log(`- ${note}`);
  for (const table of tables) printTable(table);
}

export function printNoise({ machine, noise, rounds }: Results): void {
  console.log(`\n## The machine\n`);
  console.log(
    `${machine.cores} cores (${machine.cpu}), Node ${machine.node}, ${machine.fileSystem}; ${rounds} rounds.`,
  );
  console.log("The same work in every round; what spreads here is the machine:\n");
  console.log("| work | median | p99 | rounds' medians |");
  console.log("|---|---|---|---|");
  for (const { name, median, p99, spread } of noise) {
    console.log(`| ${name} | ${shown(median)} ms | ${shown(p99)} ms | ${rangeOf(spread)} |`);
  }
}

function printTable({ title, unit, figures }: Table): void {
  const factNames = [...new Set(figures.flatMap(({ facts }) => Object.keys(facts)))];
  const heads = ["", `median, ${unit}`, "p99", "rounds' medians", "compared", "by round", ...factNames, "target"];
  console.log(`\n**${title}**\n`);
  console.log(`| ${heads.join(" | ")} |`);
  console.log(`|${heads.map(() => "---|").join("")}`);
  for (const figure of figures) console.log(`| ${cellsOf(figure, factNames).join(" | ")} |`);
}

function cellsOf({ name, median, p99, spread, compared, facts, targets }: Figure, factNames: string[]): string[] {
  return [
    name,
    shown(median),
    p99 === null ? "" : shown(p99),
    rangeOf(spread),
    compared ? shownComparison(compared.value, compared.unit) : "",
    compared ? rangeOf(compared.spread) : "",
    ...factNames.map((fact) => facts[fact] ?? ""),
    targets.map((each) => `${each.kind} ${each.bound} ${each.unit}: ${verdict(each)}`).join("; "),
  ];
}

export function shownComparison(value: number, unit: string): string {
  return unit === "×" ? `${shown(value)} ×` : `${value < 0 ? "−" : "+"}${shown(Math.abs(value))} ${unit}`;
}

const rangeOf = ([low, high]: readonly number[]): string => `${shown(low ?? Number.NaN)}–${shown(high ?? Number.NaN)}`;
