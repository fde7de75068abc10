/** The runs of the conformance suite: which release, which scenarios and which revision of the protocol. */
import type { PreparedClients } from "./prepare-clients.ts";
import type { SuiteRun } from "./run-conformance.ts";

export const runNames = ["0.1.16", "2025-11-25", "2026-07-28"] as const;
export type RunName = (typeof runNames)[number];

/** The whole released suite, and from the next one all that each revision requires or can ask for. */
export function suiteRuns({ conformance, conformanceNext }: PreparedClients): Record<RunName, SuiteRun> {
  const required = (revision: string): SuiteRun => ({ script: conformanceNext, args: ["--requirements", revision] });
  return {
    "0.1.16": { script: conformance, args: ["--suite", "all"] },
    "2025-11-25": required("2025-11-25"),
    "2026-07-28": required("2026-07-28"),
  };
}
