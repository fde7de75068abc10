/** A call as it is asked for, as it is checked, and as it runs. */
import type { OriginClass } from "../../shared/origin.ts";
import type { CallRecord } from "../audit/collect/record.ts";
import type { HookAnswers } from "../gate/gate.ts";
import type { PendingWrite } from "../gate/pending.ts";
import type { UserRun } from "../gate/runs.ts";
import type { CalledExport, Caller, CatalogTool } from "../plugins/tools.ts";
import type { StoresInQuestion } from "../sharing/stores-in-question.ts";
import type { HeldHome, HeldHomes } from "../store/held-homes.ts";
import type { Home } from "../store/home.ts";
import type { VersionKind } from "../store/versions/version.ts";
import type { WorkerReply } from "../thread/worker.ts";
import type { AskedContext, CallContext, CheckedContext } from "../values/call-context.ts";
import type { SizedChange } from "../values/change-set.ts";
import type { DecidedStores } from "../values/store-grant.ts";
import type { ToolResult, ToolSuccess } from "../values/tool-result.ts";
import type { Turn } from "./admission.ts";

/** What the caller has asked for. Callers without types can pass anything. */
export interface AskedCall {
  readonly toolName: unknown;
  /** The action's name in error messages. */
  readonly action: string;
  /** Throws `TOOL_UNKNOWN`. Throws `CLOSED`, unless the call is part of an operation that was admitted earlier. */
  readonly find: () => CatalogTool;
  /** Which commands of the tool may be called. */
  readonly caller: Caller;
  readonly input: unknown;
  readonly ctx: CallContext | AskedContext | null | undefined;
  /** When it stops waiting, on the clock of `performance.now()`. Default: after `waitMs`. */
  readonly until?: number | undefined;
}

/** What the host adds to a tool call of its own. */
export interface CallOptions {
  /** Changes that the guest reads as done. Only with the mode `look`: they are not committed. */
  readonly staged?: readonly SizedChange[];
  /**
   * Checks a success and the guest's staged changes before the commit. Returns what becomes durable, in their place. If it
   * throws, the call fails with that, and nothing is committed.
   */
  readonly accepts?: Accepts<ToolSuccess>;
  /** The guest can write as many bytes more than its scope has room for. Default: 0. */
  readonly freedBytes?: number;
  /** How what it reaches is held: `look` commits nothing. Default: as its tool needs it. */
  readonly mode?: "look" | "thorough" | undefined;
  /** Commits nothing. */
  readonly view?: EntryView;
  /**
   * The owner of the data has asked for it, or has approved it, not a model: it may take as long as all files of a scope need,
   * and its input grows with them.
   */
  readonly isUpkeep?: boolean;
  /** What its owner has approved: the call runs as it did then, and its changes are those of the call that waited. */
  readonly approved?: PendingWrite | undefined;
  /** Where it runs, if the owner's operation that makes it holds the files. Default: it waits for its turn and holds them. */
  readonly within?: HeldInTurn | undefined;
  /** How its changes come about, if not by a tool that writes them. */
  readonly kind?: VersionKind | undefined;
}

/** What is held by the host's own work, in its turn. */
export interface HeldInTurn {
  readonly turn: Turn;
  readonly held: HeldHomes;
}

/** What the guest is shown: everything but entries that are trusted less. */
export interface EntryView {
  readonly least: OriginClass;
  /** Changes of derived files, so that they are as without these entries. */
  readonly made: readonly SizedChange[];
  /** Called with whether the answer can show one of them all the same, from a derived file. */
  readonly tells?: (canShow: boolean) => void;
}

export type Accepts<Answer> = (
  answer: Answer,
  changes: readonly SizedChange[],
  reader: HeldHome,
  turn: Turn,
) => Promise<readonly SizedChange[]>;

/** A call that may run. */
export interface CheckedCall extends CheckedContext {
  readonly action: string;
  readonly found: CatalogTool;
  readonly called: CalledExport;
  /** JSON text. */
  readonly input: string;
  readonly record: CallRecord;
  readonly options: CallOptions;
}

/** The same, when its turn has come: with what stays the same in all attempts. */
export interface RunningCall extends CheckedCall {
  readonly turn: Turn;
  readonly runs: GuestRuns;
  /** What the program has said of what it wants to write; `null` if it is not asked. */
  readonly hookAnswers: HookAnswers | null;
  /** The stores that it may have to do with; `null` if its tool reaches none. */
  readonly inQuestion: StoresInQuestion | null;
  /** The home of its tool, or the user's own store. */
  readonly home: Home;
  /** The run of a model that it belongs to: its writes are trusted no more than what the run has read. `null`: none. */
  readonly modelRun: UserRun | null;
  /** Whether it can end in a commit, because its tool can change files. */
  readonly mayCommit: boolean;
  /** Whether it matters which files its guest reads: a call that changes nothing and names no run needs no history. */
  readonly needsReads: boolean;
}

/** What a run of the guest has come to, under what was held for it. */
export interface Ran {
  readonly held: HeldHomes;
  /** The home of its tool, or the user's own store. */
  readonly home: HeldHome;
  /** The stores that it reaches; `null` if its tool reaches none. */
  readonly decided: DecidedStores | null;
  readonly reply: WorkerReply;
  /** The time that the guest was given. */
  readonly epochMs: number;
  /** The lowest trust of what the model's run has read in earlier calls. */
  readonly ofRun: OriginClass;
  /** The same of what this call has read; `null` if it has read nothing that counts. */
  readonly ofCall: OriginClass | null;
}

/** The runs of a call's guest, which share its deadline. */
export interface GuestRuns {
  readonly deadlineMs: number;
  leftMs: number;
  /** The call's time; `null` if each run takes the present time. */
  atMs: number | null;
  /** The time of the last run. */
  lastMs: number | null;
  /** Set if a guest did not stop and lost its thread: resolves when another thread is ready. */
  replaced: Promise<void> | null;
}

export interface EndedCall {
  readonly result: ToolResult;
  readonly isCommitted: boolean;
}
