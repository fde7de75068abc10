import { rights as allRights, rightsOfAbi1 } from "../../shared/abi.ts";
import type { Right } from "../../shared/abi.ts";
import { anyStore } from "../../shared/shared-scope.ts";
import type { Artifact } from "../plugins/artifact/artifact.ts";
import type { PolicyLimits, ToolPolicy } from "../plugins/policy/policy.ts";

/** A tool's requests and what the policy allows. */
export interface ReportedTool {
  readonly name: string;
  /** From the manifest: a `model` tool is offered to models, a `host` tool is not. */
  readonly audience: "model" | "host";
  readonly rights: readonly Right[];
  readonly scopes: readonly string[];
  /** What the policy allows; `null` when the policy does not name the tool. */
  readonly allowed: ToolPolicy | null;
  /**
   * Who can call it in a runtime with this policy: models and programs, programs alone, or nobody. Nobody calls a tool
   * that asks for more than the policy allows.
   */
  readonly callers: "models" | "programs" | "nobody";
}

/** A package that was linked into the plugin. */
export interface Dependency {
  readonly name: string;
  readonly version: string;
  /** An SPDX expression. */
  readonly licence: string;
}

/** A fault of the plugin file, or a request beyond the policy. */
export interface Deviation {
  readonly about: "file" | "policy";
  /** A sentence for a reviewer. */
  readonly text: string;
}

/** The report of `memcell audit` on one plugin file, for text, JSON and HTML. */
export interface AuditReport {
  readonly verdict: "PASS" | "FAIL";
  readonly deviations: readonly Deviation[];
  /** What the policy takes away from a plugin that is loaded: a sentence each, with what follows. */
  readonly narrowings: readonly string[];
  readonly artifact: Artifact;
  readonly policy: { readonly name: string; readonly sha256: string; readonly pins: readonly string[] | null };
  readonly tools: readonly ReportedTool[];
  /** The lowest values of the policy, the manifest and `shared/limits.ts`. */
  readonly limits: PolicyLimits;
  /** `null` when the list of components does not cover this file. */
  readonly dependencies: readonly Dependency[] | null;
}

/**
 * Compares a tool's request with the policy, for a right, a scope, or being offered to models. `refused`: asked for,
 * not allowed. `spare`: allowed, not asked for.
 */
export type Granting = "granted" | "refused" | "spare" | "neither";

/** The rights of ABI version 1, and those others that one of the tools asks for or is allowed. */
export const shownRights = (tools: readonly ReportedTool[]): Right[] =>
  allRights.filter(
    (right) => rightsOfAbi1.includes(right) || tools.some((tool) => rightGranting(tool, right) !== "neither"),
  );

export function rightGranting({ rights, allowed }: ReportedTool, right: Right): Granting {
  return grantingOf(rights.includes(right), allowed?.rights.includes(right) ?? false);
}

/** For each scope that is asked for or allowed. */
export function scopeGrantings({ scopes, allowed }: ReportedTool): { scope: string; granting: Granting }[] {
  const all = [...new Set([...scopes, ...(allowed?.scopes ?? [])])];
  const isAllowed = (scope: string): boolean => allowed?.scopes.includes(scope) ?? false;
  return all.map((scope) => ({ scope, granting: grantingOf(scopes.includes(scope), isAllowed(scope)) }));
}

/** Whether a tool asks for shared stores. */
export const reachesStores = (tools: readonly ReportedTool[]): boolean =>
  tools.some(({ scopes }) => scopes.includes(anyStore));

/** Being offered to models is asked for and allowed like a right. The host may call every tool. */
export function modelGranting({ audience, allowed }: ReportedTool): Granting {
  return grantingOf(audience === "model", allowed?.audience === "model");
}

function grantingOf(isAsked: boolean, isAllowed: boolean): Granting {
  if (isAsked) return isAllowed ? "granted" : "refused";
  return isAllowed ? "spare" : "neither";
}
