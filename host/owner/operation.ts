/**
 * One operation of the data's owner: checks the caller, holds the user, calls tools and is recorded. Nothing else in
 * this folder does.
 */
import type { Right } from "../../shared/abi.ts";
import type { Role } from "../../shared/roles.ts";
import type { ErasedFacts, Recorder, UpkeepRecord } from "../audit/collect/record.ts";
import type { Admission, Turn } from "../call/admission.ts";
import type { Accepts, CallOptions, HeldInTurn } from "../call/asked-call.ts";
import type { CallRunner } from "../call/call.ts";
import { commitOnRecord } from "../call/commit.ts";
import type { RecordedCommit } from "../call/commit.ts";
import type { Listeners } from "../call/listeners.ts";
import { checkOwner, writeFacts } from "../gate/gate.ts";
import { ownScopesOf } from "../plugins/tools.ts";
import type { CatalogTool, LoadedTools } from "../plugins/tools.ts";
import type { ChangedGrants } from "../sharing/grants.ts";
import type { ErasedUser, LeftOver } from "../store/engine.ts";
import type { HeldHome, HeldHomes } from "../store/held-homes.ts";
import { namedByCalls } from "../store/home.ts";
import type { HoldOptions, Home, Mode } from "../store/home.ts";
import type { Store } from "../store/store.ts";
import type { VersionKind } from "../store/versions/version.ts";
import type { ContextualAccess } from "../values/asked-program.ts";
import type { CheckedContext, ContextStore } from "../values/call-context.ts";
import type { SizedChange } from "../values/change-set.ts";
import type { UserId } from "../values/ids.ts";
import { roleAnswer } from "../values/role-answer.ts";
import type { RoleInput, RoleOutput } from "../values/role-answer.ts";
import type { GrantChange } from "../values/store-grant.ts";
import { ToolError } from "../values/tool-error.ts";
import { errorOf } from "../values/tool-result.ts";
import type { ToolResult } from "../values/tool-result.ts";
import { finishErased } from "./finish-erased.ts";
import { stampOf } from "./last-answers.ts";
import type { LastAnswers } from "./last-answers.ts";

export interface UpkeepParts {
  readonly store: Store;
  readonly runner: CallRunner;
  readonly listeners: Listeners;
  readonly recorder: Recorder;
  readonly admission: Admission;
  readonly tools: LoadedTools;
  readonly answers: LastAnswers;
  readonly clock: () => number;
  /** Whether nothing may be changed. */
  readonly isReadOnly: boolean;
  /** Whether a path is inside the users' data. */
  readonly isAmongUsers: (file: string) => boolean;
  readonly contextualAccess: ContextualAccess | null;
}

/** What the owner has asked for, and its audit record. */
interface AskedOperation extends CheckedContext {
  /** The operation's name, as the audit log has it. */
  readonly name: string;
  readonly action: string;
  readonly record: UpkeepRecord;
  /** When it stops waiting, on the clock of `performance.now()`. Default: `waitMs` after it has begun to wait. */
  readonly until?: number | undefined;
}

type AskOptions<Of extends Role> = Omit<CallOptions, "accepts"> & { readonly accepts?: Accepts<RoleOutput<Of>> };

export class Operation {
  readonly tools: LoadedTools;
  readonly store: Store;
  readonly contextualAccess: ContextualAccess | null;
  readonly action: string;
  readonly userId: UserId;
  /** The stores for which the program vouches in this operation. */
  readonly stores: readonly ContextStore[];
  readonly #parts: UpkeepParts;
  readonly #asked: AskedOperation;
  readonly #within: HeldInTurn | undefined;

  /** `within`: what is held already. */
  constructor(parts: UpkeepParts, asked: AskedOperation, within?: HeldInTurn) {
    ({ tools: this.tools, store: this.store, contextualAccess: this.contextualAccess } = parts);
    ({ action: this.action, userId: this.userId, stores: this.stores } = asked);
    this.#parts = parts;
    this.#asked = asked;
    this.#within = within;
  }

  /** Whether a path is inside the users' data. */
  isAmongUsers(file: string): boolean {
    return this.#parts.isAmongUsers(file);
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

  /**
   * Does the host's own work on the home that has some scopes of the user; without scopes, on the user's folder. What the work
   * does by `inside`, holds and calls of one home, it does in this hold: nobody comes between.
   */
  hold<Result>(
    mode: Mode,
    scopes: readonly string[],
    work: (held: HeldHome, inside: Operation) => Promise<Result>,
  ): Promise<Result> {
    const home = this.store.homeOf(this.userId, scopes);
    if (this.#within !== undefined) return work(this.#within.held.of(home), this);
    return this.holdHomes([home], mode, { scopes }, (held, turn) => work(held.of(home), this.within({ held, turn })));
  }

  /** The same operation. What it holds and calls is in what is held already. */
  within(held: HeldInTurn): Operation {
    return new Operation(this.#parts, this.#asked, held);
  }

  /**
   * Records what is erased, erases it, tells listeners. What cannot be recorded is not erased. `leastMs`: the time of the last
   * grant to the user, which the erasure ends, also if the clock has been set back since.
   */
  async erase(held: readonly [HeldHome, ...HeldHome[]], facts: ErasedFacts, leastMs: number): Promise<ErasedUser> {
    const { listeners } = this.#parts;
    const { record } = this.#asked;
    const removed: SizedChange[] = [];
    for (const each of listeners.isHeard ? held : []) removed.push(...(await removalsOf(each)));
    record.erasing(facts);
    const erased = await held[0].all.erase(Math.max(this.now(), leastMs));
    this.#parts.answers.forget(this.userId);
    record.committed([]);
    listeners.changed(removed, record);
    return erased;
  }

  /** Does what is left to do then, and records what is not on record. The caller can no longer cancel it. */
  finishErased(erased: ErasedUser, isRecorded: (change: GrantChange) => boolean): Promise<LeftOver[]> {
    const { store, admission } = this.#parts;
    const record = (changes: readonly GrantChange[]): void => {
      if (!changes.every(isRecorded)) this.#asked.record.staged([], changes);
    };
    return finishErased(store, erased, { until: performance.now() + admission.waitMs, record });
  }

  /** Does what is left to do after the operation has ended. Throws `CLOSED`; closing waits for what has begun. */
  async afterwards<Result>(work: () => Promise<Result>): Promise<Result> {
    const { admission } = this.#parts;
    using _arrived = admission.arrive();
    admission.checkOpen(this.action);
    return await work();
  }

  /** Does the host's own work in the user's turn. */
  inTurn<Result>(work: (turn: Turn) => Promise<Result>): Promise<Result> {
    const { action, userId, signal, until, record } = this.#asked;
    const asked = { action, userId, signal, until, inputBytes: 0, source: record.source };
    return this.#parts.admission.run(asked, work);
  }

  /** Does the host's own work on homes, in the user's turn. */
  holdHomes<Result>(
    homes: readonly Home[],
    mode: Mode,
    options: Omit<HoldOptions, "until" | "signal">,
    work: (held: HeldHomes, turn: Turn) => Promise<Result>,
  ): Promise<Result> {
    return this.inTurn((turn) => {
      const { until, signal } = turn;
      return this.store.hold(homes, mode, { ...options, until, signal }, (held) => {
        turn.endWait();
        signal.throwIfAborted();
        return work(held, turn);
      });
    });
  }

  /** Commits new grants of a user's own store. They are recorded first. */
  commitGrants(held: HeldHome, { stored, changes }: ChangedGrants): Promise<void> {
    return this.#commit(held, { changes: [], seen: [], by: this.userId, grants: stored, granted: changes });
  }

  /** Commits changes of the host's own. They are recorded first. */
  async commit(held: HeldHome, changes: readonly SizedChange[], kind?: VersionKind): Promise<void> {
    if (changes.length === 0) return;
    const { record, origin, name, userId, action } = this.#asked;
    if (kind === "approved") checkOwner(origin, action);
    const writer = { tool: name, plugin: null, principal: userId, callId: record.callId, origin, isUpkeep: true };
    const facts = writeFacts({ ...writer, atMs: this.now(), kind, read: "owner_edit" });
    const { derivedFiles: derived } = this.tools;
    await this.#commit(held, { changes, seen: held.seen, by: userId, facts, kind, derived });
  }

  #commit({ all, home }: HeldHome, commit: Omit<RecordedCommit, "home">): Promise<void> {
    const { record, action } = this.#asked;
    const { listeners } = this.#parts;
    const inOrder = namedByCalls(home, commit.changes);
    return commitOnRecord(all, [{ home, ...commit }], { action, record, listeners, inOrder });
  }

  /**
   * What is made of a family's answers about all entries, as long as no file of its scope has changed: then no tool is called.
   * Without a scope of the user's own, or if a tool sees more than files, it is made each time.
   */
  async last<Answer>(
    question: readonly string[],
    asked: readonly CatalogTool[],
    make: (inside: Operation) => Promise<Answer>,
  ): Promise<Answer> {
    const scopes = new Set(asked.flatMap(ownScopesOf));
    const [scope] = scopes;
    const isOfFiles = asked.every(({ tool }) => tool.rights.every((right) => ofFiles.has(right)));
    if (scope === undefined || scopes.size > 1 || !isOfFiles) return await make(this);
    return await this.hold("read", [scope], async (held, inside) => {
      const stamp = await stampOf(held, scope, this.now());
      return await this.#parts.answers.of(this.userId, question, stamp, () => make(inside));
    });
  }

  /** Calls a tool. The call has an audit record of its own, under the operation's id. */
  async call(found: CatalogTool, input: unknown, options: CallOptions = {}): Promise<ToolResult> {
    const { userId, signal, stores, record, until } = this.#asked;
    const toolName = found.tool.name;
    const labels = record.labels ?? undefined;
    const ctx = { userId, signal, stores, callId: record.callId, labels, ...record.origin };
    const action = `call ${toolName}`;
    const asked = { toolName, action, find: () => found, caller: "host" as const, input, ctx, until };
    const within = this.#within;
    const { result, isCommitted } = await this.#parts.runner.call(asked, { ...options, within, isUpkeep: true });
    if (isCommitted) record.committed([]);
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
    const judge: Accepts<ToolResult> = async (success, changes, ...held) => {
      const answer = answerOf(success);
      return (await accepts?.(answer, changes, ...held)) ?? changes;
    };
    const result = await this.call(found, input, { ...options, accepts: judge });
    if (result.ok || result.error.issues === undefined) return answerOf(result);
    // The owner has not called the plugin's tool, and knows no name of it.
    const clauses = result.error.issues.map(({ field, value, allowed }) => `${field} is ${value}; expected ${allowed}`);
    const message = `Cannot ${this.action}: ${clauses.join("; ")}`;
    throw errorOf({ ...result, error: { ...result.error, message } });
  }
}

/** Rights whose answers nothing but the files of a scope decides. */
const ofFiles: ReadonlySet<Right> = new Set(["read", "list"]);

/** The files that are erased, for listeners: nothing that they cannot read keeps anybody from erasing it. */
async function removalsOf(held: HeldHome): Promise<readonly SizedChange[]> {
  const removals: SizedChange[][] = [];
  try {
    for (const scope of await held.scopes()) {
      const { files } = await held.survey(scope);
      removals.push(files.map(({ path, bytes }) => ({ kind: "remove", scope, path, bytes })));
    }
  } catch (error) {
    if (!(error instanceof ToolError)) throw error;
  }
  return namedByCalls(held.home, removals.flat());
}
