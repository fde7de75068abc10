import type { OriginClass } from "../../shared/origin.ts";
import type { UpkeepRecord } from "../audit/collect/upkeep-record.ts";
import type { ApprovedWrite } from "../gate/approval.ts";
import type { PendingWrite } from "../gate/pending-write.ts";
import type { CatalogTool } from "../plugins/loaded-tools.ts";
import type { Caller } from "../plugins/tool-commands.ts";
import type { HeldHomes, HomeCommit } from "../store/held-homes.ts";
import type { HeldReader } from "../store/holding.ts";
import type { Home } from "../store/home.ts";
import type { VersionKind, WriteFacts } from "../store/versions/version.ts";
import type { AskedContext, CallContext, CheckedContext } from "../values/call-context.ts";
import type { SizedChange } from "../values/change-set.ts";
import type { ToolResult, ToolSuccess } from "../values/tool-result.ts";
import type { Turn } from "./admission.ts";

/** A call as the caller requested it. Callers without types can pass anything. */
export interface AskedCall {
  readonly toolName: unknown;
  /** The action's name in error messages. */
  readonly action: string;
  /** Throws `TOOL_UNKNOWN`. Throws `CLOSED`, unless the call is part of an operation that was admitted earlier. */
  readonly find: () => CatalogTool;
  /** Which commands of the tool may be called. */
  readonly caller: Caller;
  readonly input: unknown;
  /** Default: the policy's limit. */
  readonly inputBytesMax?: number;
  readonly ctx: CallContext | AskedContext | null | undefined;
  /** When it stops waiting, on the clock of `performance.now()`. Default: after `waitMs`. */
  readonly until?: number | undefined;
}

/** What is held by the host's own work, in its turn. */
export interface HeldInTurn {
  readonly turn: Turn;
  readonly held: HeldHomes;
  /** The home whose scopes the work is about. */
  readonly home: Home;
}

/** What the host adds to a tool call of its own. */
export interface CallOptions {
  /** Prepares changes under the user's lock; the guest then reads them as done. `epochMs`: the call's time. */
  readonly stage?: (reader: HeldReader, epochMs: number) => Promise<readonly SizedChange[]>;
  /**
   * Checks a success and the guest's staged changes before the commit. Returns the changes that become durable together
   * with them. If it throws, the call fails with that, and nothing is committed.
   */
  readonly accepts?: Accepts<ToolSuccess>;
  /** What the changes of `accepts` make the scope smaller by: the guest can write as many bytes more. Default: 0. */
  readonly freedBytes?: number;
  /** How what it reaches is held: `look` commits nothing. Default: as its tool needs it. */
  readonly mode?: "look" | "thorough" | undefined;
  /** Commits nothing. */
  readonly view?: EntryView;
  /** The owner of the data has asked for it, not a model: it may take as long as all files of a scope need. */
  readonly isUpkeep?: boolean;
  /** What its owner has approved: the call runs as it did then, and its changes are those of the call that waited. */
  readonly approved?: PendingWrite | undefined;
  /** What its commit decides about the write that its owner has approved. */
  readonly decision?: ApprovedWrite | undefined;
  /** Where it runs, if the owner's operation that makes it holds the files. Default: it waits for its turn and holds them. */
  readonly within?: HeldInTurn | undefined;
  /** How its changes come about, if not by a tool that writes them. */
  readonly kind?: VersionKind | undefined;
}

/** Whether the changes of a call are dropped. */
export const keepsNothing = ({ mode, view }: CallOptions): boolean => mode === "look" || view !== undefined;

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
  reader: HeldReader,
) => Promise<readonly SizedChange[]>;

export interface EndedCall {
  readonly result: ToolResult;
  readonly isCommitted: boolean;
}

/** A change set, the files that it was made from, and what the history says of it. */
export interface PreparedChanges extends HomeCommit {
  readonly changes: readonly SizedChange[];
  readonly facts: WriteFacts;
}

/** The host's own work, and its audit record. */
export interface HostWork extends CheckedContext {
  /** The operation's name, as the audit log has it. */
  readonly name: string;
  readonly action: string;
  readonly record: UpkeepRecord;
  /** When it stops waiting, on the clock of `performance.now()`. Default: `waitMs` after it has begun to wait. */
  readonly until?: number | undefined;
}
