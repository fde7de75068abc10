import { isMap } from "../run-history/data-map.ts";
import { opaqueData, RunHistory, RunHistoryError, snapshotData } from "../run-history/index.ts";
import type { AppendOptions, EventData, RunHistoryContext, RunHistoryRuntime } from "../run-history/index.ts";
import { sha256 } from "../run-history/long-texts.ts";
import { partChars } from "../run-history/payloads/opaque.ts";
import { inputError } from "../run-history/run-history-error.ts";
import { givenForm } from "../run-history/stored-form.ts";
import { damagedTranscript, isOvertaken, loadTranscript, ofTranscript } from "../run-history/transcript.ts";
import { presentValue } from "../text.ts";
import { canonicalJson, itemsText } from "./item-json.ts";
import { change, readState, stateText } from "./session-state.ts";
import type { SessionChange, SessionState } from "./session-state.ts";

/** `AgentInputItem` of the SDK, which is not imported: each version has others, and a program knows which it has. */
// oxlint-disable-next-line typescript/no-explicit-any
type Item = any;

/** `SessionHistoryTransactionArgs` of the SDK. */
export interface TransactionArgs {
  readonly operationId: string;
  readonly transaction:
    | { readonly type: "append_items"; readonly items: readonly unknown[] }
    | {
        readonly type: "replace_suffix";
        readonly expectedSuffix: readonly unknown[];
        readonly replacement: readonly unknown[];
      };
}

interface Transaction {
  readonly operationId: string;
  readonly type: unknown;
  readonly add: readonly unknown[];
  readonly suffix: readonly unknown[];
}

/**
 * `Session` of `@openai/agents`, with `applyHistoryTransaction` and `replaceHistoryWithCompaction`.
 *
 * Codes of every promise: `RUN_ID_REQUIRED` and `INPUT_INVALID` for the session's id, and those of `runtime.callAsHost`.
 * Each method names its own ones.
 */
export interface MemcellSession {
  /** Rejects never. */
  getSessionId(): Promise<string>;
  /**
   * All items, or the newest ones, in their order. They are copies.
   *
   * Codes: `ENTRY_UNREADABLE` if lines of the history are damaged.
   */
  getItems(limit?: number): Promise<Item[]>;
  /**
   * Appends items behind all others.
   *
   * Codes: `INPUT_INVALID` for what is neither JSON nor bytes, and for more than 8 Mi characters of JSON;
   * `QUOTA_EXCEEDED` if the user's runs have no room.
   */
  addItems(items: readonly unknown[]): Promise<void>;
  /**
   * Removes the newest item and returns it; `undefined` if there is none.
   *
   * Codes: `ENTRY_UNREADABLE`, `QUOTA_EXCEEDED`, and `RUN_CHANGED` if others have come first twenty times.
   */
  popItem(): Promise<Item>;
  /** Moves the session to the trash of the user's memory. */
  clearSession(): Promise<void>;
  /**
   * Changes the end of the history as a whole, once for each `operationId`.
   *
   * Codes: `INPUT_INVALID` for what is no transaction, and for an `operationId` of another one; `VERSION_CONFLICT` if the
   * history does not end in `expectedSuffix`; and those of `addItems` and `popItem`.
   */
  applyHistoryTransaction(args: TransactionArgs): Promise<void>;
  /**
   * Puts these items in the place of all others.
   *
   * Codes: those of `addItems` and `popItem`.
   */
  replaceHistoryWithCompaction(items: readonly unknown[]): Promise<void>;
}

/**
 * Keeps the history of a conversation in the run history of `ctx.userId`, as a `Session` for `run` of `@openai/agents`.
 * Safe for any number of calls, processes and hosts at once: each change is one append, whole or not at all.
 *
 * Items are JSON values, in which bytes are allowed. All items of one change have at most 8 Mi characters as JSON.
 *
 * Every promise rejects with a `RunHistoryError`; `MemcellSession` lists the codes.
 *
 * @example
 * await run(agent, "Which seats are free?", { session: memcellSession(runtime, { userId: "alice" }, "chat-1") });
 *
 * A transcript has what tools have returned, so a model that reads it with `ReadRunHistory` is exposed to `tool_external`,
 * unless the context has another `origin`.
 *
 * @param ctx The context of every call, as for `runtime.call`. The user comes from your authentication.
 * @param sessionId Names the conversation among those of the user, 1 to 256 UTF-8 bytes.
 */
export function memcellSession(runtime: RunHistoryRuntime, ctx: RunHistoryContext, sessionId: string): MemcellSession {
  return new Session(new RunHistory(runtime, ofTranscript(ctx)), sessionId);
}

/** The agent's id of the runs, and the name of the form that items have there. */
const format = "openai-agents";

/** How often a change is tried again because another one came first. With more at once, the caller should wait. */
const attemptsMax = 20;

/** A history of which much has been dropped is written as a snapshot, so that a load reads at most so much in vain. */
const wornFactor = 2;
const wornCharsMin = 65_536;

class Session implements MemcellSession {
  readonly #history: RunHistory;
  readonly #id: string;

  constructor(history: RunHistory, id: string) {
    [this.#history, this.#id] = [history, id];
  }

  getSessionId(): Promise<string> {
    return Promise.resolve(this.#id);
  }

  async getItems(limit: number = Infinity): Promise<Item[]> {
    const { items } = (await this.#load()).state;
    return items.slice(items.length - Math.min(Math.max(limit, 0), items.length)).map(givenForm);
  }

  async addItems(items: readonly unknown[]): Promise<void> {
    const add = itemsText(items, "items");
    if (items.length > 0) await this.#append(opaqueData({ format, json: `{"add":${add}}` }));
  }

  async popItem(): Promise<Item> {
    let popped: unknown;
    await this.#change(({ items }) => {
      popped = items.at(-1);
      return popped === undefined ? null : { drop: 1 };
    });
    return givenForm(popped);
  }

  async clearSession(): Promise<void> {
    await this.#history.delete(format, this.#id);
  }

  async applyHistoryTransaction(args: TransactionArgs): Promise<void> {
    const { operationId, type, suffix, add } = readTransaction(args);
    const digest = await sha256(canonicalJson([type, suffix, add]));
    await this.#change(({ items, operations }) => {
      const earlier = operations.get(operationId);
      if (earlier === digest) return null;
      if (earlier !== undefined) {
        throw inputError("apply the transaction", {
          field: "operationId",
          value: "that of an earlier, different transaction",
          allowed: "one for each transaction",
        });
      }
      const start = items.length - suffix.length;
      const ends = start >= 0 && canonicalJson(items.slice(start)) === canonicalJson(suffix);
      if (!ends) {
        const message = "Cannot use the session: the history does not end in expectedSuffix";
        throw new RunHistoryError({ code: "VERSION_CONFLICT", message });
      }
      return { drop: suffix.length, add, operation: [operationId, digest] };
    });
  }

  async replaceHistoryWithCompaction(items: readonly unknown[]): Promise<void> {
    const add = JSON.parse(itemsText(items, "items")) as unknown[];
    await this.#change((state) => ({ drop: state.items.length, add }));
  }

  /** Loads the history and appends what follows from it, unless that is nothing. If another change comes between, again. */
  async #change(next: (state: SessionState) => SessionChange | null): Promise<void> {
    // Parts of a long text that are stored before another change came first are used when it is tried again.
    const changeId = crypto.randomUUID();
    for (let attempt = 1; ; attempt++) {
      const { state, chars, cursor } = await this.#load();
      const wanted = next(state);
      if (wanted === null) return;
      const { drop = 0 } = wanted;
      const isReplaced = drop > 0 && drop === state.items.length;
      change(state, wanted);
      const whole = stateText(state);
      const isWorn = chars > wornFactor * (whole.length + wornCharsMin);
      const data =
        isReplaced || isWorn
          ? snapshotData({ format, json: whole })
          : opaqueData({ format, json: JSON.stringify(wanted) });
      try {
        const appendId = data.json.length > partChars ? changeId : undefined;
        return await this.#append(data, { appendId, unchangedSince: cursor });
      } catch (error) {
        if (attempt === attemptsMax || !isOvertaken(error)) throw error;
      }
    }
  }

  async #append(data: EventData, terms: AppendOptions = {}): Promise<void> {
    const event = { type: data.eventType, data };
    await this.#history.append(format, this.#id, [event], terms);
  }

  /** `chars`: what had to be loaded. */
  async #load(): Promise<{ readonly state: SessionState; readonly chars: number; readonly cursor: string }> {
    const run = { agentId: format, runId: this.#id, format };
    const { events, meta } = await loadTranscript(this.#history, run, "snapshot");
    const state = readState(events);
    if (state === null) throw damagedTranscript(this.#id);
    const chars = events.reduce((sum, { data }) => sum + String(data["json"]).length, 0);
    return { state, chars, cursor: meta.cursor };
  }
}

/** Reads each field once, because a program's getter can answer differently each time. */
function readTransaction({ operationId, transaction }: TransactionArgs): Transaction {
  if (typeof operationId !== "string" || operationId.trim() === "") {
    throw wrong("operationId", operationId, "a text that names the transaction");
  }
  if (!isMap(transaction)) throw wrong("transaction", transaction, "an object");
  const { type, ...fields } = transaction as Readonly<Record<string, unknown>>;
  const names = transactionFields.get(type);
  if (names === undefined) throw wrong("transaction.type", type, [...transactionFields.keys()].join(" or "));
  const other = Object.keys(fields).find((name) => !names.includes(name));
  if (other !== undefined)
    throw wrong(`transaction.${other}`, "a field", `no other fields than ${names.join(" and ")}`);
  const [add = [], suffix = []] = names.map((name) => JSON.parse(itemsText(fields[name], `transaction.${name}`)));
  return { operationId, type, add, suffix };
}

const transactionFields = new Map<unknown, readonly string[]>([
  ["append_items", ["items"]],
  ["replace_suffix", ["replacement", "expectedSuffix"]],
]);

const wrong = (field: string, value: unknown, allowed: string): RunHistoryError =>
  inputError("apply the transaction", { field, value: presentValue(value), allowed });
