/** The conformance report: a row for each scenario, with its results in each run. */
import { scenarios } from "./conformance-scenarios.ts";
import type { Check } from "./run-conformance.ts";
import { runNames } from "./suite-runs.ts";
import type { RunName } from "./suite-runs.ts";

/** Each run's checks, by scenario. */
export type Findings = Readonly<Record<RunName, ReadonlyMap<string, readonly Check[]>>>;

/** The ids of checks that did not succeed. `INFO` is not a verdict. */
export function unsuccessful(checks: readonly Check[]): Set<string> {
  return new Set(checks.filter(({ status }) => status !== "SUCCESS" && status !== "INFO").map(({ id }) => id));
}

/**
 * The report in Markdown, with the number of successful checks and of all. A check made on several things counts once
 * for each. One of the checks is the protocol's message form.
 */
export function conformanceTable(findings: Findings): string {
  const rows = Object.keys(scenarios).map((name) => rowOf(name, findings));
  const titles = `| scenario | applies | ${runNames.join(" | ")} | which checks do not apply, and why |`;
  return [titles, "|---|---|---|---|---|---|", ...rows].join("\n");
}

function rowOf(name: string, findings: Findings): string {
  const cells = runNames.map((run) => cellOf(findings[run].get(name)));
  const { without = {}, note } = scenarios[name] ?? {};
  const reasons = [...new Set(Object.values(without))].map((reason) => {
    const ids = Object.keys(without).filter((id) => without[id] === reason);
    return `${ids.map((id) => `\`${id}\``).join(", ")}: ${reason}`;
  });
  return `| \`${name}\` | ${applies(name, findings)} | ${cells.join(" | ")} | ${[...reasons, ...(note === undefined ? [] : [note])].join("; ")} |`;
}

/** The check of the message form does not count. */
function applies(name: string, findings: Findings): "yes" | "in part" | "no" {
  const checks = runNames.flatMap((run) => findings[run].get(name) ?? []);
  const applying = checks.filter(({ id, status }) => status === "SUCCESS" && id !== "wire-schema-valid");
  if (applying.length === 0) return "no";
  return scenarios[name]?.without === undefined ? "yes" : "in part";
}

function cellOf(checks: readonly Check[] | undefined): string {
  if (checks === undefined) return "";
  const judged = checks.filter(({ status }) => status !== "INFO");
  return `${judged.filter(({ status }) => status === "SUCCESS").length} of ${judged.length}`;
}
