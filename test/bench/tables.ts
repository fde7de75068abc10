/** Results as tables: printed, and quoted in documents between two marks. */
import type { Figure, Results, Section, Target } from "./results.ts";

export function printSection({ title, notes, tables }: Section): void {
  console.log(`\n## ${title}\n`);
  for (const note of notes) console.log(`- ${note}`);
  for (const { title: name, unit, figures } of tables) {
    const heads = ["", `median, ${unit}`, "p99", "rounds' medians", "compared", "by round", "target"];
    console.log(`\n**${name}**\n\n| ${heads.join(" | ")} |\n|${heads.map(() => "---|").join("")}`);
    for (const figure of figures) console.log(`| ${cellsOf(figure).join(" | ")} |`);
  }
}

function cellsOf({ name, median, p99, spread, compared, targets }: Figure): string[] {
  return [
    name,
    shown(median),
    p99 === null ? "" : shown(p99),
    spread.map(shown).join("–"),
    compared ? `${shown(compared.value)} ${compared.unit}` : "",
    compared ? compared.spread.map(shown).join("–") : "",
    targets.map((each) => `${each.kind} ${each.bound} ${each.unit}: ${verdict(each)}`).join("; "),
  ];
}

/** "met" or "missed by 0.12 ×". */
const verdict = ({ isMet, bound, found, unit }: Target): string =>
  isMet ? "met" : `missed by ${shown(Math.abs(found - bound))} ${unit}`;

/** A number for readers, with three significant digits. */
function shown(value: number): string {
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return value.toFixed(digits);
}

const begin = "<!-- bench: made by `npm run bench -- --write` -->";
const end = "<!-- /bench -->";

/** Replaces the quote between a document's two marks. Throws if the document has none. */
export function replaceQuote(document: string, quote: string): string {
  const [from, to] = [document.indexOf(begin), document.indexOf(end)];
  if (from < 0 || to < from) throw new RangeError("The document has no place for results of the benchmark");
  return document.slice(0, from) + begin + quote + document.slice(to);
}

/** The line for the main README. */
export function costLine(results: Results): string {
  const [own, loop] = ["durable-disk", "durable-journaled"].map((key) => durable(results, key)) as [Target, Target];
  const onOwn = `${found(own)} the time of a naive durable write on the machine's disk ${aim(own)}`;
  return `A durable upsert takes ${onOwn}, and ${found(loop)} on a loop device, where a flush is cheap ${aim(loop)}.`;
}

function durable({ sections }: Results, table: string): Target {
  const tables = sections.flatMap((section) => section.tables);
  const ours = tables.find(({ key }) => key === table)?.figures.find(({ key }) => key === "memcell");
  const [target] = ours?.targets ?? [];
  if (target === undefined) throw new RangeError("The results have no durable upsert on two disks");
  return target;
}

const found = (target: Target): string => `${shown(target.found)} ${target.unit}`;
const aim = ({ bound, unit }: Target): string => `(the aim is ${bound} ${unit})`;

/** The table for `test/bench/README.md`: every figure that has a bound. */
export function costTable({ machine, rounds, sections }: Results): string {
  const { cores, cpu, node, fileSystem } = machine;
  const rows = sections.flatMap(({ tables }) =>
    tables.flatMap(({ title, figures }) =>
      figures.flatMap(({ name, targets }) => targets.map((target) => rowOf(`${title}: ${name}`, target))),
    ),
  );
  return [
    "\n| | found | bound | |\n|---|---|---|---|",
    ...rows,
    `\n${cores} cores (${cpu}), Node ${node}, ${fileSystem}; one run of ${rounds} rounds in which all take turns.`,
    "[bench.json](results/bench.json) has all figures.\n",
  ].join("\n");
}

const rowOf = (what: string, target: Target): string =>
  `| ${what} | ${found(target)} | ${target.kind} ${target.bound} ${target.unit} | ${verdict(target)} |`;
