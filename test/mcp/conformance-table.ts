/** The report of the conformance suite: a row for each scenario, with what it found in each run. */
import { scenarios } from "./conformance-scenarios.ts";
import type { Check } from "./run-conformance.ts";
import { runNames } from "./suite-runs.ts";
import type { RunName } from "./suite-runs.ts";

/** What each run found, by scenario. */
export type Findings = Readonly<Record<RunName, ReadonlyMap<string, readonly Check[]>>>;

/** The ids of checks that did not succeed. `INFO` is no verdict. */
export function unsuccessful(checks: readonly Check[]): Set<string> {
  return new Set(checks.filter(({ status }) => status !== "SUCCESS" && status !== "INFO").map(({ id }) => id));
}

/** As Markdown. A check that several things were held against counts once for each. */
export function conformanceTable(findings: Findings): string {
  const rows = Object.keys(scenarios).map((name) => rowOf(name, findings));
  return [
    `| scenario | ${runNames.join(" | ")} | what does not apply, and why |`,
    "|---|---|---|---|---|",
    ...rows,
  ].join("\n");
}

function rowOf(name: string, findings: Findings): string {
  const cells = runNames.map((run) => cellOf(findings[run].get(name)));
  const reasons = Object.entries(scenarios[name]?.without ?? {}).map(([id, reason]) => `\`${id}\`: ${reason}`);
  return `| \`${name}\` | ${cells.join(" | ")} | ${reasons.join("; ")} |`;
}

function cellOf(checks: readonly Check[] | undefined): string {
  if (checks === undefined) return "";
  const judged = checks.filter(({ status }) => status !== "INFO");
  return `${judged.filter(({ status }) => status === "SUCCESS").length} of ${judged.length}`;
}
