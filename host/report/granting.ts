/** What a tool asks for beside what the policy allows it: of rights, of scopes, and of being offered to models. */
import type { Right } from "../../shared/abi.ts";
import type { ReportedTool } from "./report.ts";

/** `refused`: asked for, not allowed. `spare`: allowed, not asked for. */
export type Granting = "granted" | "refused" | "spare" | "neither";

export function rightGranting({ rights, allowed }: ReportedTool, right: Right): Granting {
  return grantingOf(rights.includes(right), allowed?.rights.includes(right) ?? false);
}

/** Of each scope that is asked for or allowed. */
export function scopeGrantings({ scopes, allowed }: ReportedTool): { scope: string; granting: Granting }[] {
  const all = [...new Set([...scopes, ...(allowed?.scopes ?? [])])];
  return all.map((scope) => ({
    scope,
    granting: grantingOf(scopes.includes(scope), allowed?.scopes.includes(scope) ?? false),
  }));
}

/** The host may call every tool; to be offered to models is asked for, and allowed or not, as a right is. */
export function modelGranting({ audience, allowed }: ReportedTool): Granting {
  return grantingOf(audience === "model", allowed?.audience === "model");
}

function grantingOf(isAsked: boolean, isAllowed: boolean): Granting {
  if (isAsked) return isAllowed ? "granted" : "refused";
  return isAllowed ? "spare" : "neither";
}
