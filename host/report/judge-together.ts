import { pluginLimits } from "../../shared/limits.ts";
import { quoted } from "../../shared/text.ts";
import type { AuditReport } from "./report.ts";

/** Files of which each may be loaded, and not with the others: a runtime refuses a tool that two plugins offer. */
export function judgeTogether(reports: readonly AuditReport[]): AuditReport[] {
  return reports.map((report, at) => {
    const others = reports.filter((_, other) => other !== at);
    const clashes = report.tools.flatMap(({ name }) => {
      const other = others.find(({ tools }) => tools.some((tool) => tool.name === name));
      if (!other) return [];
      const text = `Its tool ${quoted(name)} is in ${quoted(other.artifact.file)} too: no runtime loads both files.`;
      return [{ about: "file" as const, text }];
    });
    if (clashes.length === 0) return report;
    const shown = clashes.slice(0, pluginLimits.deviationsMax);
    return { ...report, verdict: "FAIL", deviations: [...report.deviations, ...shown] };
  });
}
