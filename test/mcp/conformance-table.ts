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

/**
 * As Markdown: the checks that succeeded, of how many. A check that several things were held against counts once for each;
 * that what was sent has the form of the protocol is one of them.
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

/** The form of messages is no matter of a scenario. */
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
