/**
 * The table in README.md, which says which checks of the conformance suite cannot apply, and why. The suite expects a
 * server with every feature, and with tools, prompts and resources of fixed names; `write-conformance-plugin.ts` offers
 * the tools that memcell can have.
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
}

/** Each run's checks, by scenario. */
export type Findings = Readonly<Record<RunName, ReadonlyMap<string, readonly Check[]>>>;

const page = readFileSync(new URL("README.md", import.meta.url), "utf8");
const titles = `| scenario | ${runNames.join(" | ")} | which checks do not apply, and why |`;
const rows = page.slice(page.indexOf(titles)).trimEnd().split("\n").slice(2);

export const scenarios: readonly Scenario[] = rows.map(scenarioOf);

function scenarioOf(row: string): Scenario {
  const [name = "", ...cells] = row
    .slice(1, -1)
    .split("|")
    .map((cell) => cell.trim());
  const reasons = (cells.at(-1) ?? "").split("; ").filter((part) => part.startsWith("`"));
  const without = reasons.flatMap((part) => {
    const [ids = "", reason = ""] = part.split(": ");
    return ids.split(", ").map((id) => [id.replaceAll("`", ""), reason] as const);
  });
  return {
    name: name.replaceAll("`", ""),
    runs: runNames.filter((_, at) => cells[at] !== ""),
    without: new Map(without),
  };
}

/** The ids of checks that did not succeed. `INFO` is not a verdict. */
export function unsuccessful(checks: readonly Check[]): Set<string> {
  return new Set(checks.filter(({ status }) => status !== "SUCCESS" && status !== "INFO").map(({ id }) => id));
}
