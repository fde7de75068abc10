/** Sample reports for pages: the shipped plugin, a drifted one, one made to deceive, and two logs. */
import { createHash } from "node:crypto";

import { readArtifact } from "../../host/plugins/artifact/read-artifact.ts";
import { loadPolicy } from "../../host/plugins/policy/load-policy.ts";
import type { Policy } from "../../host/plugins/policy/policy.ts";
import { makeReport } from "../../host/report/make-report.ts";
import type { AuditReport, ReportedTool } from "../../host/report/report.ts";
import { shippedBytes } from "./tampered-files.ts";

const policyHash = createHash("sha256").update("a policy").digest("hex");
const shipped = readArtifact(shippedBytes, "user-memory.wasm");
const shippedPolicy = await loadPolicy(undefined);
/** The shipped policy, with other limits, pinned to the plugin built here. */
const policy: Policy = {
  ...shippedPolicy,
  limits: { ...shippedPolicy.limits, hostCalls: 2_500 },
  plugins: new Map(
    Array.from(shippedPolicy.plugins, ([name, plugin]) => [name, { ...plugin, sha256: [shipped.sha256] }]),
  ),
};
const dependencies = [
  { name: "gray-matter", version: "4.0.3", licence: "MIT" },
  { name: "js-yaml", version: "5.5.0", licence: "MIT" },
  { name: "zod", version: "4.6.7", licence: "MIT" },
];

/** The shipped plugin's report, as the command makes it. */
export function passingReport(): AuditReport {
  return reportOn(shippedBytes);
}

export function reportOn(bytes: Uint8Array): AuditReport {
  const artifact = readArtifact(bytes, "user-memory.wasm");
  const isShipped = bytes === shippedBytes;
  return makeReport({ artifact, policy, dependencies: isShipped ? dependencies : null });
}

/** A file that is not a module. */
export function unreadableReport(): AuditReport {
  return reportOn(new TextEncoder().encode("no module"));
}

/** Everything that can be wrong, in one file. */
export function failingReport(): AuditReport {
  const report = passingReport();
  const { artifact, tools } = report;
  return {
    ...report,
    verdict: "FAIL",
    deviations: [
      {
        about: "file",
        text: 'It imports function "wasi_snapshot_preview1" "fd_write", which its manifest does not account for.',
      },
      { about: "file", text: "Its memory is 42 to unlimited pages, its manifest says 42 to 512." },
      {
        about: "policy",
        text: `Its SHA-256 is ${artifact.sha256}, the policy pins "user-memory" to ${policyHash}.`,
      },
      {
        about: "policy",
        text: 'Its tool "ReadUserMemory" asks for the right "write", the policy "strict.json" allows read.',
      },
      { about: "policy", text: 'Its tool "RestoreEntry" is not named by the policy "strict.json".' },
    ],
    artifact: {
      ...artifact,
      memory: { min: 42, max: null },
      imports: [
        ...artifact.imports,
        {
          module: "wasi_snapshot_preview1",
          name: "fd_write",
          signature: "i32,i32,i32,i32->i32",
          meaning: null,
          right: null,
        },
      ],
    },
    policy: { name: "strict.json", sha256: policyHash, pins: [policyHash] },
    tools: tools.map((tool) => drifted(tool)),
    dependencies: null,
  };
}

function drifted(tool: ReportedTool): ReportedTool {
  return { ...tool, ...drift[tool.name] };
}

const drift: Readonly<Record<string, Partial<ReportedTool>>> = {
  InspectMemory: { audience: "model" },
  PromptIndex: { allowed: { rights: ["read", "list", "write"], scopes: ["memory"], audience: "host" } },
  ReadUserMemory: { rights: ["read", "write"], scopes: ["memory", "secrets"] },
  RestoreEntry: { allowed: null },
};
