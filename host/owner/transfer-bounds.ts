import { storeLimits } from "../../shared/limits.ts";
import { transferLimits } from "../archive/transfer-limits.ts";
import { ToolError } from "../values/tool-error.ts";

/** How many files are imported, and how many bytes they have together. */
export interface TransferSum {
  readonly files: number;
  readonly bytes: number;
}

const ofScope: TransferSum = { files: storeLimits.listEntriesMax, bytes: storeLimits.scopeBytesMax };
const ofAll: TransferSum = { files: transferLimits.filesMax, bytes: transferLimits.importBytesMax };

/** Throws `QUOTA_EXCEEDED` for more than one operation holds in memory. `scopes` is the number of scopes. */
export function checkTransfer(sum: TransferSum, scopes: number): void {
  check("Cannot import the memory: it has", sum, ofAll, scopes > 1 ? fewerScopes : "");
}

const fewerScopes = ' at once: name some of its scopes ("scopes", or --scope)';

/** Throws `QUOTA_EXCEEDED` for more than a scope may hold. `sum.files`: outside its trash. */
export function checkScope(scope: string, sum: TransferSum): void {
  check(`Cannot import the memory: its scope "${scope}" has`, sum, ofScope, "");
}

function check(subject: string, sum: TransferSum, most: TransferSum, remedy: string): void {
  for (const unit of ["files", "bytes"] as const) {
    if (sum[unit] <= most[unit]) continue;
    throw new ToolError("QUOTA_EXCEEDED", `${subject} ${sum[unit]} ${unit}, at most ${most[unit]} allowed${remedy}`);
  }
}
