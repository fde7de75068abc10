/** Adds files to a user's scopes. All of it is planned before anything is done, and refused together. */
import { transferLimits } from "../archive/transfer-limits.ts";
import type { MemoryFile } from "../values/memory-file.ts";
import { filesByScope } from "./import-files.ts";
import { refuseImport } from "./import-refusal.ts";
import type { ImportOptions, ImportPlan } from "./memory-files.ts";
import type { Operation } from "./operation.ts";
import { ScopeImport } from "./scope-import.ts";

export async function planFiles(
  operation: Operation,
  files: readonly MemoryFile[],
  options: ImportOptions,
): Promise<ImportPlan> {
  const plans: ImportPlan[] = [];
  for (const each of await importsOf(operation, files, options)) plans.push(await each.plan());
  return together(plans);
}

export async function importFiles(
  operation: Operation,
  files: readonly MemoryFile[],
  options: ImportOptions,
): Promise<ImportPlan> {
  const imports = await importsOf(operation, files, options);
  const plans: ImportPlan[] = [];
  for (const each of imports) plans.push(await each.plan());
  refuseImport(together(plans));
  for (const [at, plan] of plans.entries()) {
    if (plan.created.length + plan.replaced.length + plan.trashed.length === 0) continue;
    plans[at] = (await imports[at]?.commit()) ?? plan;
  }
  return together(plans);
}

async function importsOf(
  operation: Operation,
  files: readonly MemoryFile[],
  { replace = false }: ImportOptions,
): Promise<ScopeImport[]> {
  const imports: ScopeImport[] = [];
  for (const [scope, ofScope] of filesByScope(files)) {
    imports.push(await ScopeImport.of(operation, scope, { files: ofScope, replaces: replace }));
  }
  return imports;
}

function together(plans: readonly ImportPlan[]): ImportPlan {
  const refused = plans.flatMap((plan) => plan.refused);
  return {
    created: plans.flatMap(({ created }) => created),
    replaced: plans.flatMap(({ replaced }) => replaced),
    skipped: plans.flatMap(({ skipped }) => skipped),
    trashed: plans.flatMap(({ trashed }) => trashed),
    bytes: plans.reduce((sum, { bytes }) => sum + bytes, 0),
    mended: plans.flatMap(({ mended }) => mended),
    refused: refused.slice(0, transferLimits.refusalsShownMax),
    refusedHidden: Math.max(0, refused.length - transferLimits.refusalsShownMax),
  };
}
