import { pluginLimits } from "../../shared/limits.ts";
import { quoted } from "../../shared/text.ts";
import { clashClauses } from "../plugins/clash-clauses.ts";
import type { AuditReport } from "./report.ts";

/** Files of which each may be loaded, and not with the others: told by what the catalog refuses them for. */
export function judgeTogether(reports: readonly AuditReport[]): AuditReport[] {
  return reports.map((report, at) => {
    const others = reports.filter((_, other) => other !== at);
    const clashes = others.flatMap((other) => clashesOf(report, other)).slice(0, pluginLimits.deviationsMax);
    if (clashes.length === 0) return report;
    return { ...report, verdict: "FAIL", deviations: [...report.deviations, ...clashes] };
  });
}

function clashesOf({ artifact: { manifest } }: AuditReport, { artifact }: AuditReport): AuditReport["deviations"] {
  if (manifest === null || artifact.manifest === null) return [];
  return Array.from(clashClauses(manifest, artifact.manifest), (clause) => ({
    about: "file",
    text: `No runtime loads it together with ${quoted(artifact.file)}, which ${clause}.`,
  }));
}
