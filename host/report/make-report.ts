import { pluginLimits } from "../../shared/limits.ts";
import type { Manifest } from "../../shared/manifest.ts";
import type { Artifact } from "../plugins/artifact/artifact.ts";
import { policyDeviations } from "../plugins/policy/policy-deviations.ts";
import type { PluginPolicy, Policy, PolicyLimits } from "../plugins/policy/policy.ts";
import type { AuditReport, Dependency, Deviation, ReportedTool } from "./report.ts";

export interface ReportParts {
  readonly artifact: Artifact;
  readonly policy: Policy;
  /** `null` when no list of components accounts for this very file. */
  readonly dependencies: readonly Dependency[] | null;
}

/** Judges a plugin file by a policy: `PASS` when a runtime with this policy loads it. */
export function makeReport({ artifact, policy, dependencies }: ReportParts): AuditReport {
  const { manifest } = artifact;
  const granted = manifest ? policy.plugins.get(manifest.name) : undefined;
  const beyond = manifest ? beyondPolicy(manifest, artifact.sha256, policy) : unpinned(artifact, policy);
  const deviations: Deviation[] = [
    ...artifact.deviations.map((clause) => ({ about: "file" as const, text: sentenceOf(clause) })),
    ...beyond.map((clause) => ({ about: "policy" as const, text: sentenceOf(clause) })),
  ];
  return {
    verdict: deviations.length === 0 ? "PASS" : "FAIL",
    deviations,
    artifact,
    policy: { name: policy.name, sha256: policy.sha256, pins: granted?.sha256 ?? null },
    tools: manifest?.tools.map((tool) => reportedTool(tool, granted)) ?? [],
    limits: manifest ? leastLimits(manifest, policy.limits) : policy.limits,
    dependencies,
  };
}

/** A hash that is not pinned comes first, and says more to a reviewer than two numbers. */
function beyondPolicy(manifest: Manifest, sha256: string, policy: Policy): readonly string[] {
  const clauses = bounded(policyDeviations(manifest, sha256, policy));
  const [first, ...others] = clauses;
  const pins = policy.plugins.get(manifest.name)?.sha256;
  if (first === undefined || !pins || pins.includes(sha256)) return clauses;
  return [`${first}: this is not the file that was reviewed`, ...others];
}

/** Without a manifest nothing says which plugin it would be. */
function unpinned({ sha256 }: Artifact, { plugins }: Policy): string[] {
  const pins = [...plugins.values()].flatMap((plugin) => plugin.sha256 ?? []);
  if (sha256 === "" || pins.length === 0) return [];
  return [`its SHA-256 is ${sha256}, which the policy pins for no plugin: this is not a file that was reviewed`];
}

function reportedTool(
  { name, audience, rights, scopes }: Manifest["tools"][number],
  granted: PluginPolicy | undefined,
): ReportedTool {
  return { name, audience, rights, scopes, allowed: granted?.tools.get(name) ?? null };
}

function leastLimits(manifest: Manifest, limits: PolicyLimits): PolicyLimits {
  const own = manifestLimits(manifest);
  return {
    ...limits,
    deadlineMs: Math.min(limits.deadlineMs, own.deadlineMs),
    fuelPolls: Math.min(limits.fuelPolls, own.fuelPolls),
    memoryPages: Math.min(limits.memoryPages, own.memoryPages),
  };
}

/** The limits that a manifest has a say in. */
export function manifestLimits({ deadlineMs, fuelPolls, memoryPages }: Manifest) {
  return { deadlineMs, fuelPolls, memoryPages: memoryPages.max };
}

function bounded(clauses: readonly string[]): readonly string[] {
  const { deviationsMax } = pluginLimits;
  const left = clauses.length - deviationsMax;
  return left > 0 ? [...clauses.slice(0, deviationsMax), `it asks for more in ${left} more ways`] : clauses;
}

/** From a clause as refusals have it behind a colon. */
function sentenceOf(clause: string): string {
  return `${clause.charAt(0).toUpperCase()}${clause.slice(1)}.`;
}
