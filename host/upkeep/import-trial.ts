/** One try of an import: what is staged for the guest to judge, and what becomes of the import by that judgement. */
import type { ErrorCode } from "../../shared/errors.ts";
import { quoted } from "../../shared/text.ts";
import { transferLimits } from "../archive/transfer-limits.ts";
import type { StagedChanges } from "../call/commit-changes.ts";
import type { HeldReader } from "../store/store.ts";
import { ToolError } from "../values/tool-error.ts";
import type { Finding } from "./finding.ts";
import { indexPath } from "./import-files.ts";
import type { ImportPlan, RefusedFile } from "./memory-files.ts";
import { planImport } from "./plan-import.ts";
import type { ImportTask, PlannedImport } from "./plan-import.ts";

/** Findings that an import brings about by itself, and what a person would have to do about others. */
const codes: Partial<Record<Finding["problem"], ErrorCode>> = {
  "entry-unreadable": "ENTRY_UNREADABLE",
  "entry-too-large": "QUOTA_EXCEEDED",
  "names-differ-by-case": "NAME_CONFLICT",
};

export class ImportTrial {
  readonly #task: Omit<ImportTask, "epochMs">;
  #planned: PlannedImport | null = null;

  constructor(task: Omit<ImportTask, "epochMs">) {
    this.#task = task;
  }

  /** Under the user's lock. What is refused is not staged: then the guest looks at what is there. */
  async stage(reader: HeldReader, epochMs: number): Promise<StagedChanges> {
    this.#planned = await planImport(reader, { ...this.#task, epochMs });
    const { changes, refused } = this.#planned;
    return refused.length > 0 ? { changes: [], seen: [] } : { changes, seen: reader.seen };
  }

  /** After `stage`. An entry that the guest cannot use as it is refuses the import: nothing that comes in is altered. */
  plan(findings: readonly Finding[]): ImportPlan {
    if (this.#planned === null) throw new RangeError("Nothing has been staged");
    const { created, replaced, skipped, trashed, bytes, refused: byHost } = this.#planned;
    const entries = new Set([...created, ...replaced].filter((path) => path !== indexPath));
    const mended: Finding[] = [];
    const refused = [...byHost];
    for (const finding of byHost.length > 0 ? [] : findings) {
      const path = finding.path.slice(this.#task.scope.length + 1);
      if (finding.problem === "not-inspected")
        refused.push({ path: this.#task.scope, code: "QUOTA_EXCEEDED", reason: finding.message });
      else if (!entries.has(path)) mended.push(...(finding.remedy === null ? [] : [finding]));
      else if (finding.problem !== "entry-without-line") refused.push(refusalOf(path, finding));
    }
    const shown = refused.slice(0, transferLimits.refusalsShownMax);
    const refusedHidden = refused.length - shown.length;
    return { created, replaced, skipped, trashed, bytes, mended, refused: shown, refusedHidden };
  }
}

function refusalOf(path: string, { problem, message }: Finding): RefusedFile {
  return { path, code: codes[problem] ?? "INPUT_INVALID", reason: message };
}

/** How many refused files the message of an error names. */
const namedMax = 3;

/** Throws when anything is refused, with the code of the first. */
export function refuseImport({ refused, refusedHidden }: ImportPlan): void {
  const [first] = refused;
  if (first === undefined) return;
  const named = refused.slice(0, namedMax).map(({ path, reason }) => `${quoted(path)}: ${reason}`);
  const rest = refused.length + refusedHidden - named.length;
  if (rest > 0) named.push(`and ${rest} more`);
  throw new ToolError(first.code, `Cannot import the memory: ${named.join("; ")}`);
}
