/** What a call may write: its trust, from what the program says and from what its run has read, and the gate's decision. */
import { lowestOf } from "../../shared/origin.ts";
import type { OriginClass } from "../../shared/origin.ts";
import type { CallRecord } from "../audit/collect/call-record.ts";
import { makeWait, shownChanges } from "../gate/gate.ts";
import type { Gate, GatedWrite, WaitingCall } from "../gate/gate.ts";
import type { PendingChange, PendingWrite } from "../gate/pending-write.ts";
import type { RunTrust } from "../gate/run-trust.ts";
import type { HookAnswers } from "../gate/write-hook.ts";
import { mayChange } from "../plugins/loaded-tools.ts";
import type { CatalogTool } from "../plugins/loaded-tools.ts";
import type { CalledExport } from "../plugins/tool-commands.ts";
import { entriesScope } from "../store/shared-stores.ts";
import type { HoldOptions, Store } from "../store/store.ts";
import type { HeldHistory } from "../store/versions/held-history.ts";
import { trustOfReads } from "../store/versions/read-trust.ts";
import type { WriteFacts } from "../store/versions/version.ts";
import type { Seen, SizedChange } from "../values/change-set.ts";
import { statedTrust } from "../values/origin.ts";
import type { StatedOrigin } from "../values/origin.ts";
import { scopeOfStore } from "../values/store-id.ts";
import type { StoreId } from "../values/store-id.ts";
import { failedResult } from "../values/tool-result.ts";
import type { ToolResult } from "../values/tool-result.ts";
import type { UserId } from "../values/user-id.ts";
import type { Admission, Turn } from "./admission.ts";
import { keepsNothing } from "./asked-call.ts";
import type { CallOptions } from "./asked-call.ts";
import { lowestRead, readsEntries, withoutDerived } from "./run-reads.ts";
import { writeFacts } from "./write-facts.ts";

export interface GatedCallParts {
  readonly store: Store;
  readonly clock: () => number;
  readonly admission: Admission;
  readonly gate: Gate;
  readonly runTrust: RunTrust;
}

interface Caller {
  readonly userId: UserId;
  readonly origin: StatedOrigin;
  readonly found: CatalogTool;
  readonly called: CalledExport;
  /** JSON text. */
  readonly input: string;
  readonly action: string;
}

interface ReadStore {
  readonly id: StoreId;
  /** Whether it is the user's own. */
  readonly isOwn: boolean;
}

type Waiting = Pick<HoldOptions, "until" | "signal">;

export class GatedCall {
  readonly #parts: GatedCallParts;
  readonly #call: Caller;
  readonly #record: CallRecord;
  readonly #options: CallOptions;
  /** The lowest trust that the run has read in earlier calls. */
  #ofRun: OriginClass = "owner_edit";
  /** The same of this call; `null` if it has read nothing. */
  #ofReads: OriginClass | null = null;
  #waiting: WaitingCall | null = null;
  /** What the program has said of what it wants to write; `null` if it is not asked. */
  readonly #answers: HookAnswers | null;

  constructor(
    parts: GatedCallParts,
    call: Caller,
    { record, options }: { readonly record: CallRecord; readonly options: CallOptions },
  ) {
    this.#parts = parts;
    this.#call = call;
    this.#record = record;
    this.#options = options;
    this.#answers = parts.gate.newAnswers();
  }

  /** Whether it can end in a commit: because its tool can change files, or because the host stages changes. */
  get commits(): boolean {
    return !keepsNothing(this.#options) && (this.#options.stage !== undefined || mayChange(this.#call.called.rights));
  }

  /** How its guest runs. */
  get guest(): { readonly isUpkeep: boolean; readonly atMs: number | undefined } {
    const { isUpkeep = false, approved } = this.#options;
    return { isUpkeep, atMs: approved?.epochMs };
  }

  /** Whether it matters which files its guest reads: a call that changes nothing and names no run needs no history. */
  get needsSeen(): boolean {
    return this.#counts && (this.#run !== null || this.commits);
  }

  /** Finds what its run has read before. Call it first. */
  async begin({ until, signal }: Waiting): Promise<void> {
    const { run } = this.#call.origin;
    if (run === null || this.#isOwners || !this.commits) return;
    this.#ofRun = await this.#parts.runTrust.of(this.#call.userId, run, { until, signal });
  }

  /** Its guest has read files of the user. */
  async hasRead(history: HeldHistory, seen: readonly Seen[]): Promise<void> {
    if (this.needsSeen) this.#lower(await trustOfReads(history, withoutDerived(seen, this.#call.found.files)));
  }

  /** Its guest has read files of stores, one of which has this history. */
  async hasReadStore(history: HeldHistory, seen: readonly Seen[], { id, isOwn }: ReadStore): Promise<void> {
    if (!this.needsSeen) return;
    const scope = scopeOfStore(id);
    // The store's history has another name for it.
    const entries = withoutDerived(seen, this.#call.found.files).flatMap((file) =>
      file.scope === scope ? [{ ...file, scope: entriesScope }] : [],
    );
    const trust = await trustOfReads(history, entries);
    this.#lower(trust === null || isOwn ? trust : lowestOf(trust, ofAnother));
  }

  #lower(trust: OriginClass | null): void {
    this.#ofReads = lowestRead([this.#ofReads, trust]);
  }

  /** A guest runs, perhaps again from the start: nobody gets what it has read or written before. */
  restart(): void {
    this.#ofReads = null;
    this.#waiting = null;
  }

  /** What the history says of its changes. `atMs`: the call's time. */
  facts(atMs: number): WriteFacts {
    const { isUpkeep = false, kind, approved } = this.#options;
    const { userId, origin, found } = this.#call;
    if (approved !== undefined) return approvedFacts(approved, userId, this.#parts.clock());
    const writer = { tool: found.tool.name, plugin: found.family, userId, callId: this.#record.callId };
    const facts = writeFacts({ ...writer, origin, isUpkeep, kind, atMs });
    return { ...facts, trust: lowestOf(facts.trust, this.#ofRun, ...(this.#ofReads === null ? [] : [this.#ofReads])) };
  }

  /**
   * Whether its changes wait for the owner of the memory: then they are not committed. `null`: nor are they before the
   * program was asked, which `askProgram` does. Throws `WRITE_REFUSED`. `whyNot`: why they cannot wait, as a clause; then
   * nobody can approve them either.
   */
  async waits(
    changes: readonly SizedChange[],
    facts: WriteFacts,
    bytesOf: (scope: string, path: string) => Promise<Uint8Array | null>,
    { whyNot = null, grants = null }: Partial<Pick<GatedWrite, "whyNot" | "grants">> = {},
  ): Promise<boolean | null> {
    const { isUpkeep = false, approved } = this.#options;
    const { userId, origin, found, action, input } = this.#call;
    const { gate } = this.#parts;
    if (approved !== undefined) gate.checkApproval({ origin, action, whyNot });
    if (isUpkeep || approved !== undefined || (changes.length === 0 && whyNot === null)) return false;
    // A program that says nothing of origins must be able to write, also when its user's history was lost.
    const trust = origin.told ? facts.trust : statedTrust(origin);
    const { trust: policy, files } = found;
    const write = { userId, changes, grants, facts, trust, policy, files, action, whyNot };
    const shown = (): Promise<PendingChange[]> => shownChanges(changes, bytesOf);
    const waits = await gate.waits(write, this.#answers, shown);
    if (waits === true) {
      this.#waiting = { userId, action, input, epochMs: facts.atMs, facts, changes: await shown() };
    }
    return waits;
  }

  /** Asks the program what `waits` lacks. For calls that hold nothing. Returns whether there was anything. */
  async askProgram(turn: Turn): Promise<boolean> {
    if (this.#answers === null || !(await this.#answers.askLacking(turn, this.#call.action))) return false;
    // Another call of the run can have read something meanwhile.
    await this.begin(turn);
    return true;
  }

  /** Returns what its caller gets, once what it has read and what waits are on record. */
  async end(result: ToolResult, { signal }: Waiting): Promise<ToolResult> {
    const { runTrust, store, admission } = this.#parts;
    const until = performance.now() + admission.waitMs;
    const { isCommitted } = this.#record;
    const waiting = { until, signal: isCommitted ? undefined : signal };
    const { userId } = this.#call;
    if (this.#run !== null && this.#ofReads !== null) {
      await runTrust.lower(userId, this.#run, this.#ofReads, { ...waiting, isNeeded: !isCommitted });
    }
    if (this.#waiting === null) return result;
    return failedResult(await makeWait(store, this.#waiting, waiting));
  }

  /** The run whose trust what it reads lowers; `null` if there is none, or its reads do not count. */
  get #run(): string | null {
    return this.#counts ? this.#call.origin.run : null;
  }

  /** Whether what it reads lowers its run's trust, and its own. */
  get #counts(): boolean {
    return !this.#isOwners && readsEntries(this.#call.found);
  }

  /** Whether the owner of the data does it, or has approved it. */
  get #isOwners(): boolean {
    return this.#options.isUpkeep === true || this.#options.approved !== undefined;
  }
}

/** Nobody has told the user where another user's text comes from, whatever that user is told of it. */
export const ofAnother: OriginClass = "unstated";

/** The change is the call's that waited; its trust is the owner's. */
function approvedFacts(
  { id: approval, tool, plugin, run, turn, source, callId, ...write }: PendingWrite,
  userId: UserId,
  atMs: number,
): WriteFacts {
  const named = { tool, plugin, principal: userId, run, turn, source, callId, approval };
  return { atMs, ...named, class: write.class, trust: "owner_edit" };
}
