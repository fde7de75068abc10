import type { CallRecord } from "../audit/collect/call-record.ts";
import type { UserRun } from "../gate/run-trust.ts";
import type { HookAnswers } from "../gate/write-hook.ts";
import type { CatalogTool } from "../plugins/loaded-tools.ts";
import type { CalledExport } from "../plugins/tool-commands.ts";
import type { StoresInQuestion } from "../sharing/stores-in-question.ts";
import type { CheckedContext } from "../values/call-context.ts";
import type { AskedTurn, Turn } from "./admission.ts";
import type { CallOptions } from "./asked-call.ts";
import type { GuestRuns } from "./guest-runs.ts";

/** A call that may run. */
export interface CheckedCall extends CheckedContext, AskedTurn {
  readonly found: CatalogTool;
  readonly called: CalledExport;
  /** JSON text. */
  readonly input: string;
}

/** A call whose turn has come. */
export interface RunningCall extends CheckedCall {
  readonly turn: Turn;
  readonly record: CallRecord;
  readonly options: CallOptions;
  readonly guests: GuestRuns;
  /** What the program has said of what it wants to write; `null` if it is not asked. */
  readonly answers: HookAnswers | null;
  /** The stores that it may have to do with; `null` if its tool reaches none. */
  readonly questions: StoresInQuestion | null;
  /** Whether what it reads can get to a model, and so lowers its own trust and that of its run. */
  readonly countsReads: boolean;
  /** The run of a model that it belongs to: its writes are trusted no more than what the run has read. `null`: none. */
  readonly modelRun: UserRun | null;
  /** Whether it can end in a commit: because its tool can change files, or because the host stages changes. */
  readonly mayCommit: boolean;
}
