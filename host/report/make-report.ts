import { pluginLimits } from "../../shared/limits.ts";
import type { Manifest, ManifestTool } from "../../shared/manifest.ts";
import { quoted } from "../../shared/text.ts";
import type { Artifact } from "../plugins/artifact/artifact.ts";
import { clashClauses } from "../plugins/clash-clauses.ts";
import { narrowPlugin, narrowingText, policyDeviations } from "../plugins/narrow-plugin.ts";
import type { NarrowedPlugin } from "../plugins/narrow-plugin.ts";
import type { Policy, PolicyLimits, ToolPolicy } from "../plugins/policy/policy.ts";
import { isOffered } from "../plugins/tools.ts";
import type { AuditReport, Deviation, ReportedTool } from "./report.ts";

type ReportParts = Pick<AuditReport, "artifact" | "dependencies"> & { readonly policy: Policy };

/** Judges a plugin file by a policy: `PASS` when a runtime with this policy loads it, with at least one of its tools. */
export function makeReport({ artifact, policy, dependencies }: ReportParts): AuditReport {
  const { manifest } = artifact;
  const granted = manifest ? policy.plugins.get(manifest.name) : undefined;
  const beyond = manifest ? beyondPolicy(manifest, artifact, policy) : unpinned(artifact, policy);
  const deviations: Deviation[] = [
    ...artifact.deviations.map((clause) => ({ about: "file" as const, text: sentenceOf(clause) })),
    ...beyond.map((clause) => ({ about: "policy" as const, text: sentenceOf(clause) })),
  ];
  const isLoaded = manifest !== null && deviations.length === 0;
  const narrowed = isLoaded ? narrowPlugin(manifest, policy) : { tools: [], narrowings: [] };
  return {
    verdict: deviations.length === 0 ? "PASS" : "FAIL",
    deviations,
    narrowings: narrowed.narrowings.map((each) => sentenceOf(narrowingText(each))),
    artifact,
    policy: { name: policy.name, sha256: policy.sha256, pins: granted?.sha256 ?? null },
    tools: (manifest?.tools ?? []).flatMap((tool) =>
      reportedTools(tool, granted?.tools.get(tool.name) ?? null, narrowed.tools),
    ),
    limits: manifest ? leastLimits(manifest, policy.limits) : policy.limits,
    dependencies,
  };
}

/** A tool, or each command of a tool with its own rights. Models get no command that shares, unless a program allows it. */
function reportedTools(tool: ManifestTool, allowed: ToolPolicy | null, left: NarrowedPlugin["tools"]): ReportedTool[] {
  const { name, audience, rights, scopes, commands } = tool;
  const found = left.find((each) => each.name === name);
  if (commands === undefined) return [{ name, audience, rights, scopes, allowed, callers: callersOf(found) }];
  return commands.map((command) => ({
    name: `${name} ${command.name}`,
    audience: command.rights.includes("grant_set") ? "host" : audience,
    rights: command.rights,
    scopes,
    // What the policy allows the tool is allowed each of its commands that asks for it.
    allowed: allowed && {
      ...allowed,
      rights: allowed.rights.filter((right) => command.rights.includes(right) || !rights.includes(right)),
    },
    callers: callersOf(
      found?.commands?.some((each) => each.name === command.name) ? { ...found, commands: [command] } : undefined,
    ),
  }));
}

function callersOf(tool: ManifestTool | undefined): ReportedTool["callers"] {
  if (tool === undefined) return "nobody";
  return isOffered(tool, "model") ? "models" : "programs";
}

/**
 * Why a runtime does not load the file: as a strict policy would say it, so that a reviewer learns all that the file asks
 * for. Lists a hash that is not pinned first, and explains it.
 */
function beyondPolicy(manifest: Manifest, { sha256, deviations }: Artifact, policy: Policy): readonly string[] {
  const isRefused = deviations.length > 0 || policyDeviations(manifest, sha256, policy).length > 0;
  if (!isRefused && narrowPlugin(manifest, policy).tools.length > 0) return [];
  const all = policyDeviations(manifest, sha256, { ...policy, isStrict: true });
  const { deviationsMax } = pluginLimits;
  const left = all.length - deviationsMax;
  const [first, ...others] = left > 0 ? [...all.slice(0, deviationsMax), `it asks for more in ${left} more ways`] : all;
  if (first === undefined) return [];
  const pins = policy.plugins.get(manifest.name)?.sha256;
  const isReviewed = !pins || pins.includes(sha256);
  return [isReviewed ? first : `${first}: this is not the file that was reviewed`, ...others];
}

/** For a file without a manifest, which belongs to no known plugin. */
function unpinned({ sha256 }: Artifact, { plugins }: Policy): string[] {
  const pins = [...plugins.values()].flatMap((plugin) => plugin.sha256 ?? []);
  if (sha256 === "" || pins.length === 0) return [];
  return [`its SHA-256 is ${sha256}, which the policy pins for no plugin: this is not a file that was reviewed`];
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

/** The limits that a manifest can lower. */
export function manifestLimits({ deadlineMs, fuelPolls, memoryPages }: Manifest) {
  return { deadlineMs, fuelPolls, memoryPages: memoryPages.max };
}

/** Turns the clause of a refusal into a sentence. */
function sentenceOf(clause: string): string {
  return `${clause.charAt(0).toUpperCase()}${clause.slice(1)}.`;
}

/** Adds deviations to files that cannot be loaded together, with the catalog's reasons. */
export function judgeTogether(reports: readonly AuditReport[], policy: Policy): AuditReport[] {
  return reports.map((report, at) => {
    const others = reports.toSpliced(at, 1);
    const clashes = others.flatMap((other) => clashesOf(report, other, policy)).slice(0, pluginLimits.deviationsMax);
    if (clashes.length === 0) return report;
    return { ...report, verdict: "FAIL", deviations: [...report.deviations, ...clashes] };
  });
}

function clashesOf(
  { artifact: { manifest } }: AuditReport,
  { artifact }: AuditReport,
  policy: Policy,
): AuditReport["deviations"] {
  if (manifest === null || artifact.manifest === null) return [];
  return Array.from(clashClauses(leftOf(manifest, policy), leftOf(artifact.manifest, policy)), (clause) => ({
    about: "file",
    text: `No runtime loads it together with ${quoted(artifact.file)}, which ${clause}.`,
  }));
}

const leftOf = (manifest: Manifest, policy: Policy): Pick<NarrowedPlugin, "tools"> & { readonly name: string } => ({
  name: manifest.name,
  tools: narrowPlugin(manifest, policy).tools,
});
