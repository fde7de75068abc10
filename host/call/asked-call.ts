/** What a call is asked for with. */
import type { UpkeepRecord } from "../audit/collect/upkeep-record.ts";
import type { CatalogTool } from "../plugins/loaded-tools.ts";
import type { HeldReader } from "../store/store.ts";
import type { AskedContext, CallContext, CheckedContext } from "../values/call-context.ts";
import type { Seen, SizedChange } from "../values/change-set.ts";
import type { ToolResult, ToolSuccess } from "../values/tool-result.ts";

/** A call as it was asked for. Callers without types may have passed anything. */
export interface AskedCall {
  readonly toolName: unknown;
  /** As messages name it. */
  readonly action: string;
  /** Throws `TOOL_UNKNOWN`; and `CLOSED`, unless the call is part of an operation that was admitted before. */
  readonly find: () => CatalogTool;
  readonly input: unknown;
  /** Default: what the policy leaves to callers. */
  readonly inputBytesMax?: number;
  readonly ctx: CallContext | AskedContext | null | undefined;
}

/** What the host itself adds to a call of a tool. */
export interface CallOptions {
  /** Asked under the user's lock, before the guest runs, which finds it done. `epochMs` is the time that it is given. */
  readonly stage?: (reader: HeldReader, epochMs: number) => Promise<PreparedChanges>;
  /** Looks at a success and at what the guest has staged, before anything is committed: what it throws, the call fails with. */
  readonly accepts?: (success: ToolSuccess, changes: readonly SizedChange[]) => void;
  /** Changes that become durable together with the guest's. */
  readonly alsoCommit?: PreparedChanges["changes"];
  /** Looks at the user's files as a crash has left them, and commits nothing. */
  readonly isLookingOnly?: boolean;
  /** Takes nothing for granted that the store remembers of the user. */
  readonly isThorough?: boolean;
}

export interface EndedCall {
  readonly result: ToolResult;
  readonly isCommitted: boolean;
}

/** A change set, and what it was made from. */
export interface PreparedChanges {
  readonly changes: readonly SizedChange[];
  readonly seen: readonly Seen[];
}

/** Work of the host's own, and what is recorded of it. */
export interface HostWork extends CheckedContext {
  readonly action: string;
  readonly record: UpkeepRecord;
}
