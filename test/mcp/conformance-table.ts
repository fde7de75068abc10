/**
 * The report on the conformance suite: the table in README.md, which says which checks cannot apply, and why. The suite
 * expects a server with every feature, and with tools, prompts and resources of fixed names;
 * `write-conformance-plugin.ts` offers the tools that memcell can have.
 */
import { readFileSync } from "node:fs";

import { runNames } from "./run-conformance.ts";
import type { Check, RunName } from "./run-conformance.ts";

export interface Scenario {
  readonly name: string;
  /** The runs that contain it. */
  readonly runs: readonly RunName[];
  /** Checks that fail in at least one run, by id, and why they cannot apply. All others succeed. */
  readonly without: ReadonlyMap<string, string>;
  /** What else the table says of it. */
  readonly notes: readonly string[];
}

/** Each run's checks, by scenario. */
export type Findings = Readonly<Record<RunName, ReadonlyMap<string, readonly Check[]>>>;

const page = readFileSync(new URL("README.md", import.meta.url), "utf8");
const titles = `| scenario | applies | ${runNames.join(" | ")} | which checks do not apply, and why |`;

/** The table as it is in README.md. */
export const table: string = page.slice(page.indexOf(titles)).trimEnd();

export const scenarios: readonly Scenario[] = table.split("\n").slice(2).map(scenarioOf);

function scenarioOf(row: string): Scenario {
  const [name = "", , ...cells] = row
    .slice(1, -1)
    .split("|")
    .map((cell) => cell.trim());
  const parts = (cells.at(-1) ?? "").split("; ").filter((part) => part !== "");
  const reasons = parts.filter((part) => part.startsWith("`"));
  const without = reasons.flatMap((part) => {
    const [ids = "", reason = ""] = part.split(": ");
    return ids.split(", ").map((id) => [id.replaceAll("`", ""), reason] as const);
  });
  return {
    name: name.replaceAll("`", ""),
    runs: runNames.filter((_, at) => cells[at] !== ""),
    without: new Map(without),
    notes: parts.filter((part) => !reasons.includes(part)),
  };
}

/** The ids of checks that did not succeed. `INFO` is not a verdict. */
export function unsuccessful(checks: readonly Check[]): Set<string> {
  return new Set(checks.filter(({ status }) => status !== "SUCCESS" && status !== "INFO").map(({ id }) => id));
}

/**
 * The table of these findings, with the number of successful checks and of all. A check made on several things counts
 * once for each. One of the checks is the protocol's message form.
 */
export function tableOf(findings: Findings): string {
  return [titles, "|---|---|---|---|---|---|", ...scenarios.map((scenario) => rowOf(scenario, findings))].join("\n");
}

function rowOf(scenario: Scenario, findings: Findings): string {
  const { name, without, notes } = scenario;
  const cells = runNames.map((run) => cellOf(findings[run].get(name)));
  const reasons = [...new Set(without.values())].map((reason) => {
    const ids = [...without.keys()].filter((id) => without.get(id) === reason);
    return `${ids.map((id) => `\`${id}\``).join(", ")}: ${reason}`;
  });
  return `| \`${name}\` | ${applies(scenario, findings)} | ${cells.join(" | ")} | ${[...reasons, ...notes].join("; ")} |`;
}

/** The check of the message form does not count. */
function applies({ name, without }: Scenario, findings: Findings): "yes" | "in part" | "no" {
  const checks = runNames.flatMap((run) => findings[run].get(name) ?? []);
  const applying = checks.filter(({ id, status }) => status === "SUCCESS" && id !== "wire-schema-valid");
  if (applying.length === 0) return "no";
  return without.size === 0 ? "yes" : "in part";
}

function cellOf(checks: readonly Check[] | undefined): string {
  if (checks === undefined) return "";
  const judged = checks.filter(({ status }) => status !== "INFO");
  return `${judged.filter(({ status }) => status === "SUCCESS").length} of ${judged.length}`;
}
