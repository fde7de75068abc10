/** Adds files to a user's scopes. Plans everything before anything changes. One refused file refuses all. */
import { transferLimits } from "../archive/transfer-limits.ts";
import type { MemoryFile } from "../values/memory-file.ts";
import { inTurns } from "../values/turns.ts";
import { filesByScope } from "./import-files.ts";
import { refuseImport } from "./import-refusal.ts";
import type { ImportOptions, ImportPlan, RefusedFile } from "./memory-files.ts";
import type { Operation } from "./operation.ts";
import { ScopeImport } from "./scope-import.ts";
import type { ScopePlan } from "./scope-import.ts";

type Asked = readonly [operation: Operation, files: readonly MemoryFile[], options: ImportOptions];

export async function planFiles(...asked: Asked): Promise<ImportPlan> {
  const { plans, leftOut } = await planAll(...asked);
  return together(plans, leftOut);
}

export async function importFiles(...asked: Asked): Promise<ImportPlan> {
  const { imports, plans, leftOut } = await planAll(...asked);
  refuseImport(refusedOf(plans, leftOut));
  for (const [at, plan] of plans.entries()) {
    if (plan.created.length + plan.replaced.length + plan.trashed.length === 0) continue;
    plans[at] = (await imports[at]?.commit()) ?? plan;
  }
  return together(plans, leftOut);
}

/** A plan for each scope that has something to import. */
async function planAll(...[operation, files, { replace = false, scopes }]: Asked) {
  const imports: ScopeImport[] = [];
  const leftOut: RefusedFile[] = [];
  for (const [scope, ofScope] of await inTurns(filesByScope(files, scopes))) {
    if (!operation.tools.hasScope(scope)) {
      leftOut.push({ path: scope, code: "TOOL_UNKNOWN", reason: "no loaded plugin has this scope" });
      continue;
    }
    const each = await ScopeImport.of(operation, scope, { files: ofScope, replaces: replace });
    leftOut.push(...each.leftOut);
    if (each.leftOut.length < ofScope.length) imports.push(each);
  }
  const plans: ScopePlan[] = [];
  for (const each of imports) plans.push(await each.plan());
  return { imports, plans, leftOut };
}

/** If all files are left out, the reasons for that are the refusal. */
const refusedOf = (plans: readonly ScopePlan[], leftOut: readonly RefusedFile[]): readonly RefusedFile[] =>
  plans.length === 0 ? leftOut : plans.flatMap(({ refused }) => refused);

function together(plans: readonly ScopePlan[], leftOut: readonly RefusedFile[]): ImportPlan {
  const refused = refusedOf(plans, leftOut);
  return {
    created: plans.flatMap(({ created }) => created),
    replaced: plans.flatMap(({ replaced }) => replaced),
    skipped: plans.flatMap(({ skipped }) => skipped),
    trashed: plans.flatMap(({ trashed }) => trashed),
    bytes: plans.reduce((sum, { bytes }) => sum + bytes, 0),
    mended: plans.flatMap(({ mended }) => mended),
    leftOut: plans.length === 0 ? [] : leftOut,
    refused: refused.slice(0, transferLimits.refusalsShownMax),
    refusedHidden: Math.max(0, refused.length - transferLimits.refusalsShownMax),
  };
}
