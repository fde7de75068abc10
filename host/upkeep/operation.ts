/**
 * One operation of the data's owner: checks the caller, holds the user, calls tools and is recorded. Nothing else in
 * this folder does.
 */
import { callLimits } from "../../shared/limits.ts";
import type { Role } from "../../shared/roles.ts";
import type { Recorder } from "../audit/collect/recorder.ts";
import type { ErasedFacts } from "../audit/collect/upkeep-record.ts";
import type { Admission, Turn } from "../call/admission.ts";
import type { Accepts, CallOptions, HeldInTurn, HostWork } from "../call/asked-call.ts";
import type { CallRunner } from "../call/call.ts";
import { writeFacts } from "../call/judged-write.ts";
import type { AskedHold, OwnWork } from "../call/own-work.ts";
import type { CatalogTool, LoadedTools } from "../plugins/loaded-tools.ts";
import type { ChangedGrants } from "../sharing/changed-grants.ts";
import { finishErased } from "../sharing/finish-erased.ts";
import type { ErasedUser, LeftOver } from "../store/engine.ts";
import type { HeldHome, HeldHomes } from "../store/held-homes.ts";
import { ownStoreHome, userHome } from "../store/home.ts";
import type { Home, Mode } from "../store/home.ts";
import type { HostRecords } from "../store/host-records.ts";
import type { Store } from "../store/store.ts";
import type { VersionKind } from "../store/versions/version.ts";
import type { SizedChange } from "../values/change-set.ts";
import type { ContextStore } from "../values/context-store.ts";
import { roleAnswer } from "../values/role-answer.ts";
import type { RoleInput, RoleOutput } from "../values/role-answer.ts";
import type { GrantChange } from "../values/store-grant.ts";
import type { ToolResult } from "../values/tool-result.ts";
import type { UserId } from "../values/user-id.ts";

export interface UpkeepParts {
  readonly store: Store;
  readonly runner: CallRunner;
  readonly own: OwnWork;
  readonly recorder: Recorder;
  readonly admission: Admission;
  readonly tools: LoadedTools;
  readonly clock: () => number;
  /** Whether nothing may be changed. */
  readonly isReadOnly: boolean;
}

/** Scopes of one home, and how it is held. */
interface OfScopes {
  readonly scopes: readonly string[];
  readonly mode: Mode;
}

type AskOptions<Of extends Role> = Omit<CallOptions, "accepts"> & { readonly accepts?: Accepts<RoleOutput<Of>> };

export class Operation {
  readonly #parts: UpkeepParts;
  readonly #asked: HostWork;
  readonly #within: HeldInTurn | undefined;

  /** `within`: what is held already. */
  constructor(parts: UpkeepParts, asked: HostWork, within?: HeldInTurn) {
    this.#parts = parts;
    this.#asked = asked;
    this.#within = within;
  }

  get tools(): LoadedTools {
    return this.#parts.tools;
  }

  get action(): string {
    return this.#asked.action;
  }

  get userId(): UserId {
    return this.#asked.userId;
  }

  /** The stores for which the program vouches in this operation. */
  get stores(): readonly ContextStore[] {
    return this.#asked.stores;
  }

  get store(): Store {
    return this.#parts.store;
  }

  now(): number {
    return this.#parts.clock();
  }

  /** The same operation, but its caller can no longer cancel it. */
  uncancelled(): Operation {
    return new Operation(this.#parts, { ...this.#asked, signal: undefined });
  }

  /** The same operation, with all waits together as long as one may be, or a part of that from now on, if that ends later. */
  bounded(part = 1): Operation {
    const { until = 0 } = this.#asked;
    const least = performance.now() + this.#parts.admission.waitMs * part;
    return new Operation(this.#parts, { ...this.#asked, until: Math.max(until, least) });
  }

  /** The part of its waiting time that has passed, from 0 to 1, of one that is `bounded`. */
  get waited(): number {
    const { until = Infinity } = this.#asked;
    return 1 - (until - performance.now()) / this.#parts.admission.waitMs;
  }

  /** The user's homes, each as the scopes to pass to `hold`. The first names none: it has all that no other one has. */
  get parts(): (readonly string[])[] {
    return this.#parts.store.homesOf(this.userId).map((home) => (home.kind === "user" ? [] : [home.scope]));
  }

  /** Does the host's own work on the files of a home. */
  hold<Result>(options: OfScopes, work: (held: HeldHome) => Promise<Result>): Promise<Result> {
    if (this.#within !== undefined) return work(this.#within.held.of(this.#within.home));
    return this.holdAll(options, work);
  }

  /** As `hold`. What the work does by `inside`, holds and calls of one home, it does in this hold: nobody comes between. */
  holdAll<Result>(
    { scopes, mode }: OfScopes,
    work: (held: HeldHome, inside: Operation) => Promise<Result>,
  ): Promise<Result> {
    const home = this.#parts.store.homeOf(this.userId, scopes);
    return this.#parts.own.hold(this.#asked, { homes: [home], mode, scopes }, (held, turn) =>
      work(held.of(home), new Operation(this.#parts, this.#asked, { held, turn, home })),
    );
  }

  /** Does the host's own work on what it keeps about the user. What the work has staged is durable then. */
  holdRecords<Result>(mode: Mode, work: (records: HostRecords) => Promise<Result>): Promise<Result> {
    const home = userHome(this.userId);
    return this.#parts.own.hold(this.#asked, { homes: [home], mode, scopes: [] }, async (held) => {
      const { records } = held.of(home);
      const result = await work(records);
      await records.commit();
      return result;
    });
  }

  /** Does the host's own work on everything that the user has but mounted folders: the folder, and the own store. */
  holdToErase<Result>(
    options: Pick<AskedHold, "mode" | "finishes">,
    work: (held: HeldHomes, homes: readonly Home[]) => Promise<Result>,
  ): Promise<Result> {
    const homes = [userHome(this.userId), ownStoreHome(this.userId)];
    return this.#parts.own.hold(this.#asked, { ...options, homes }, (held) => work(held, homes));
  }

  /** Erases the user. It is recorded first. */
  erase(held: HeldHomes, homes: readonly Home[], { contents, granted }: ErasedFacts): Promise<ErasedUser> {
    return this.#parts.own.erase(held, { homes, erasedMs: this.now(), contents, granted }, this.#asked.record);
  }

  /** Does what is left to do then, and records what is not on record. The caller can no longer cancel it. */
  finishErased(erased: ErasedUser, isRecorded: (change: GrantChange) => boolean): Promise<LeftOver[]> {
    const { store, admission } = this.#parts;
    const record = (changes: readonly GrantChange[]): void => {
      if (!changes.every(isRecorded)) this.#asked.record.staged([], changes);
    };
    return finishErased(store, erased, { until: performance.now() + admission.waitMs, record });
  }

  /** Does the host's own work on the user's own store. */
  holdOwnStore<Result>(mode: Mode, work: (held: HeldHome) => Promise<Result>): Promise<Result> {
    const home = ownStoreHome(this.userId);
    return this.#parts.own.hold(this.#asked, { homes: [home], mode }, (held) => work(held.of(home)));
  }

  /** Does the host's own work in the user's turn. */
  inTurn<Result>(work: (turn: Turn) => Promise<Result>): Promise<Result> {
    return this.#parts.own.inTurn(this.#asked, work);
  }

  /** Commits new grants of a user's own store. They are recorded first. */
  commitGrants(held: HeldHome, changed: ChangedGrants): Promise<void> {
    return this.#parts.own.commitGrants(changed, { held, userId: this.userId }, this.#asked.record);
  }

  /** Commits changes of the host's own. They are recorded first. */
  commit(held: HeldHome, changes: readonly SizedChange[], kind?: VersionKind): Promise<void> {
    const { record, origin, name } = this.#asked;
    const writer = { tool: name, plugin: null, userId: this.userId, callId: record.callId, origin, isUpkeep: true };
    const facts = writeFacts({ ...writer, atMs: this.now(), kind });
    return this.#parts.own.commit(
      { changes, seen: held.reader.seen, facts, kind, derived: this.tools.derivedFiles },
      held,
      record,
    );
  }

  /** Calls a tool. The call has an audit record of its own, under the operation's id. */
  async call(found: CatalogTool, input: unknown, options: CallOptions = {}): Promise<ToolResult> {
    const { userId, signal, stores, record, until } = this.#asked;
    const toolName = found.tool.name;
    const labels = record.labels ?? undefined;
    const ctx = { userId, signal, stores, callId: record.callId, labels, ...record.origin };
    // The policy limits the input of callers. The host's own input grows with the user's files.
    const { inputBytesMax } = callLimits;
    const asked = {
      toolName,
      action: `call ${toolName}`,
      find: () => found,
      caller: "host" as const,
      input,
      inputBytesMax,
      ctx,
      until,
    };
    const within = this.#within;
    const { result, isCommitted } = await this.#parts.runner.call(asked, { ...options, within, isUpkeep: true });
    if (isCommitted) record.toolHasCommitted();
    return result;
  }

  /**
   * As `call`, for a tool with a role. Throws the tool's failure. An answer that does not fit the role commits nothing.
   */
  async ask<Of extends Role>(
    role: Of,
    found: CatalogTool,
    input: RoleInput<Of>,
    { accepts, ...options }: AskOptions<Of> = {},
  ): Promise<RoleOutput<Of>> {
    const answerOf = (result: ToolResult): RoleOutput<Of> => roleAnswer(role, found.tool.name, result);
    const judge: Accepts<ToolResult> = async (success, changes, reader) => {
      const answer = answerOf(success);
      return (await accepts?.(answer, changes, reader)) ?? [];
    };
    return answerOf(await this.call(found, input, { ...options, accepts: judge }));
  }
}
