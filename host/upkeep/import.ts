/** Adds files to a user's scopes. All of it is planned before anything is done, and refused together. */
import { transferLimits } from "../archive/transfer-limits.ts";
import type { MemoryFile } from "../values/memory-file.ts";
import { filesByScope } from "./import-files.ts";
import { refuseImport } from "./import-refusal.ts";
import type { ImportOptions, ImportPlan, RefusedFile } from "./memory-files.ts";
import type { Operation } from "./operation.ts";
import { ScopeImport } from "./scope-import.ts";
import type { ScopePlan } from "./scope-import.ts";

export async function planFiles(
  operation: Operation,
  files: readonly MemoryFile[],
  options: ImportOptions,
): Promise<ImportPlan> {
  const { imports, leftOut } = await importsOf(operation, files, options);
  const plans: ScopePlan[] = [];
  for (const each of imports) plans.push(await each.plan());
  return together(plans, leftOut);
}

export async function importFiles(
  operation: Operation,
  files: readonly MemoryFile[],
  options: ImportOptions,
): Promise<ImportPlan> {
  const { imports, leftOut } = await importsOf(operation, files, options);
  if (imports.length === 0) refuseImport(leftOut);
  const plans: ScopePlan[] = [];
  for (const each of imports) plans.push(await each.plan());
  refuseImport(plans.flatMap(({ refused }) => refused));
  for (const [at, plan] of plans.entries()) {
    if (plan.created.length + plan.replaced.length + plan.trashed.length === 0) continue;
    plans[at] = (await imports[at]?.commit()) ?? plan;
  }
  return together(plans, leftOut);
}

interface AskedImports {
  /** By scope, of those that have something to import. */
  readonly imports: readonly ScopeImport[];
  readonly leftOut: readonly RefusedFile[];
}

async function importsOf(
  operation: Operation,
  files: readonly MemoryFile[],
  { replace = false, scopes }: ImportOptions,
): Promise<AskedImports> {
  const imports: ScopeImport[] = [];
  const leftOut: RefusedFile[] = [];
  for (const [scope, ofScope] of filesByScope(files, scopes)) {
    if (!operation.tools.hasScope(scope)) {
      leftOut.push({ path: scope, code: "TOOL_UNKNOWN", reason: "no plugin that is loaded has this scope" });
      continue;
    }
    const each = await ScopeImport.of(operation, scope, { files: ofScope, replaces: replace });
    leftOut.push(...each.leftOut);
    if (each.leftOut.length < ofScope.length) imports.push(each);
  }
  return { imports, leftOut };
}

function together(plans: readonly ScopePlan[], leftOut: readonly RefusedFile[]): ImportPlan {
  // When all is left out, that is why nothing is imported.
  const refused = plans.length === 0 ? leftOut : plans.flatMap((plan) => plan.refused);
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
