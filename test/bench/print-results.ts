/** Prints results as tables for terminals and Markdown. */
import type { Figure, Results, Section, Target } from "./results.ts";

export function printSection({ number, title, notes, tables }: Section): void {
  console.log(`\n## ${number}. ${title}\n`);
  for (const note of notes) console.log(`- ${note}`);
  for (const { title: name, unit, figures } of tables) {
    const facts = [...new Set(figures.flatMap((figure) => Object.keys(figure.facts)))];
    const heads = ["", `median, ${unit}`, "p99", "rounds' medians", "compared", "by round", ...facts, "target"];
    printTable(
      name,
      heads,
      figures.map((figure) => cellsOf(figure, facts)),
    );
  }
}

export function printNoise({ machine, noise, rounds }: Results): void {
  console.log(`\n## The machine\n\n${machine.cores} cores (${machine.cpu}), Node ${machine.node}, `);
  console.log(`${machine.fileSystem}; ${rounds} rounds. The same work in every round; what spreads is the machine:`);
  const rows = noise.map(({ name, median, p99, spread }) => [
    name,
    `${shown(median)} ms`,
    `${shown(p99)} ms`,
    rangeOf(spread),
  ]);
  printTable("Noise", ["work", "median", "p99", "rounds' medians"], rows);
}

function printTable(title: string, heads: readonly string[], rows: readonly (readonly string[])[]): void {
  console.log(`\n**${title}**\n`);
  console.log(`| ${heads.join(" | ")} |\n|${heads.map(() => "---|").join("")}`);
  for (const cells of rows) console.log(`| ${cells.join(" | ")} |`);
}

function cellsOf({ name, median, p99, spread, compared, facts, targets }: Figure, factNames: string[]): string[] {
  return [
    name,
    shown(median),
    p99 === null ? "" : shown(p99),
    rangeOf(spread),
    compared ? `${shown(compared.value)} ${compared.unit}` : "",
    compared ? rangeOf(compared.spread) : "",
    ...factNames.map((fact) => facts[fact] ?? ""),
    targets.map((each) => `${each.kind} ${each.bound} ${each.unit}: ${verdict(each)}`).join("; "),
  ];
}

const rangeOf = ([low, high]: readonly number[]): string => `${shown(low ?? Number.NaN)}–${shown(high ?? Number.NaN)}`;

/** "met" or "missed by 0.12 ×". */
export function verdict({ isMet, bound, found, unit }: Target): string {
  return isMet ? "met" : `missed by ${shown(Math.abs(found - bound))} ${unit}`;
}

/** A number for readers, with three significant digits. */
export function shown(value: number): string {
  if (!Number.isFinite(value)) return "–";
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return value.toFixed(digits);
}
