import type { Right } from "../../shared/abi.ts";
import type { Artifact } from "../plugins/artifact/artifact.ts";
import type { PolicyLimits, ToolPolicy } from "../plugins/policy/policy.ts";

/** What the host would grant a tool of the plugin. */
export interface ReportedTool {
  readonly name: string;
  /** What its manifest asks for: `model` is offered to models, `host` is not. */
  readonly audience: "model" | "host";
  readonly rights: readonly Right[];
  readonly scopes: readonly string[];
  /** What the policy allows it; `null` when the policy does not name it. A tool that asks for more is refused. */
  readonly allowed: ToolPolicy | null;
}

/** A package that was linked into the plugin. */
export interface Dependency {
  readonly name: string;
  readonly version: string;
  /** An SPDX expression. */
  readonly licence: string;
}

/** Where the artifact, the policy or the build differ from what they should be. */
export interface Deviation {
  readonly about: "file" | "policy";
  /** A sentence for a reviewer. */
  readonly text: string;
}

/** What `memcell audit` tells of one plugin file, in text, JSON and HTML. */
export interface AuditReport {
  readonly verdict: "PASS" | "FAIL";
  readonly deviations: readonly Deviation[];
  readonly artifact: Artifact;
  readonly policy: { readonly name: string; readonly sha256: string; readonly pins: readonly string[] | null };
  readonly tools: readonly ReportedTool[];
  /** The least of what the policy, the manifest and `shared/limits.ts` say. */
  readonly limits: PolicyLimits;
  /** `null` when no list of components accounts for this very file. */
  readonly dependencies: readonly Dependency[] | null;
}

/**
 * What a tool asks for beside what the policy allows it: of rights, of scopes, and of being offered to models. `refused`:
 * asked for, not allowed. `spare`: allowed, not asked for.
 */
export type Granting = "granted" | "refused" | "spare" | "neither";

export function rightGranting({ rights, allowed }: ReportedTool, right: Right): Granting {
  return grantingOf(rights.includes(right), allowed?.rights.includes(right) ?? false);
}

/** Of each scope that is asked for or allowed. */
export function scopeGrantings({ scopes, allowed }: ReportedTool): { scope: string; granting: Granting }[] {
  const all = [...new Set([...scopes, ...(allowed?.scopes ?? [])])];
  const isAllowed = (scope: string): boolean => allowed?.scopes.includes(scope) ?? false;
  return all.map((scope) => ({ scope, granting: grantingOf(scopes.includes(scope), isAllowed(scope)) }));
}

/** The host may call every tool; to be offered to models is asked for, and allowed or not, as a right is. */
export function modelGranting({ audience, allowed }: ReportedTool): Granting {
  return grantingOf(audience === "model", allowed?.audience === "model");
}

function grantingOf(isAsked: boolean, isAllowed: boolean): Granting {
  if (isAsked) return isAllowed ? "granted" : "refused";
  return isAllowed ? "spare" : "neither";
}
