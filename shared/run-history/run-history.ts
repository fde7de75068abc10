import type { InputIssue } from "../envelope.ts";
import { unknownField } from "../known-fields.ts";
import type { FieldsOf } from "../known-fields.ts";
import type { OriginClass } from "../origin.ts";
import { RunHistoryError } from "./run-history-error.ts";
import type { CallFailure } from "./run-history-error.ts";
import type { Snapshot, SnapshotMeta } from "./snapshot.ts";
import type { WireEvent } from "./wire-event.ts";
import { decodeEvent, encodeEvent } from "./wire.ts";
import type { GivenEvent } from "./wire.ts";

/** On whose behalf a program reads and writes: the context of every call. memcell's `CallContext` has the same fields. */
export interface RunHistoryContext {
  /** The authenticated user, whose runs these are. */
  readonly userId: string;
  readonly signal?: AbortSignal | undefined;
  readonly callId?: string | undefined;
  readonly labels?: Readonly<Record<string, string>> | undefined;
  readonly origin?: RunHistoryOrigin | undefined;
  readonly exposedTo?: readonly OriginClass[] | undefined;
}

/** memcell's `CallOrigin`. */
interface RunHistoryOrigin {
  readonly class: OriginClass;
  readonly run?: string | undefined;
  readonly turn?: string | undefined;
  readonly source?: string | undefined;
}

/** What a `RunHistory` needs of a runtime. memcell's `Runtime` has it. */
export interface RunHistoryRuntime {
  callAsHost(tool: string, input: unknown, ctx: RunHistoryContext): Promise<CallResult>;
}

type CallResult =
  | { readonly ok: true; readonly data: unknown }
  | { readonly ok: false; readonly error: CallFailure; readonly hint?: string | undefined };

export interface AppendOptions {
  /**
   * Names this append within its run, 1 to 256 UTF-8 bytes. A repeated append with the same id stores nothing and
   * answers as the first did. Default: every append stores its events.
   */
  readonly appendId?: string | undefined;
}

/** An answer of `LoadRun`. */
interface Page {
  readonly events: readonly WireEvent[];
  readonly more: boolean;
  readonly meta: SnapshotMeta;
}

interface RunIds {
  readonly agentId: string;
  readonly runId: string;
}

/**
 * The histories of one user's runs, kept by a runtime with the plugin `run-history`. Safe for any number of calls at
 * once. Every promise rejects with a `RunHistoryError` that has the code of the failed call.
 *
 * @example
 * const runtime = await createRuntime({ dataDir: "data", plugins: ["run-history"] });
 * const history = new RunHistory(runtime, { userId: "alice" });
 * await history.append("planner", "run-1", [newEvent(undefined, userMessageData({ message: "Hello" }))]);
 * const { events, meta } = await history.load("planner", "run-1");
 * console.log(decodeUserMessageData(events[0]).message); // Hello
 * console.log((await history.loadSince("planner", "run-1", meta.cursor)).events.length); // 0
 * await runtime.close();
 */
export class RunHistory {
  readonly #runtime: RunHistoryRuntime;
  readonly #ctx: RunHistoryContext;

  constructor(runtime: RunHistoryRuntime, ctx: RunHistoryContext) {
    if (!runtime) throw new RunHistoryError({ code: "INPUT_INVALID", message: "client is required" });
    this.#runtime = runtime;
    this.#ctx = { ...ctx };
  }

  /**
   * Appends events to a run: all of them, next to each other, or none. Begins the run if there is none. Resolves to the
   * number of stored events when they are durable. An empty list does nothing.
   *
   * A batch has at most 1,000 events and 512 KiB as an input. It is never split, because a part of it could then be
   * stored without the rest.
   *
   * Codes: `AGENT_ID_REQUIRED`, `RUN_ID_REQUIRED`, `INPUT_INVALID`, `EVENT_DATA_NIL`, `EVENT_DATA_NOT_MAP`,
   * `EVENT_FIELD_MISSING`, `EVENT_FIELD_INVALID`, `JSON_TRAILING_DATA`, `JSON_INVALID`, `QUOTA_EXCEEDED`, and those of
   * `runtime.callAsHost`.
   */
  async append(
    agentId: string,
    runId: string,
    events: readonly GivenEvent[],
    options: AppendOptions = {},
  ): Promise<number> {
    const { appendId } = checkAppend(options);
    const encoded = events.map((event, at) => encodeEvent(event, `events[${at}]`));
    if (encoded.length === 0) return 0;
    const input = { agentId, runId, events: encoded, ...(appendId !== undefined && { appendId }) };
    try {
      const { appended } = (await this.#call("AppendRunEvents", input)) as { appended: number };
      return appended;
    } catch (error) {
      throw error instanceof RunHistoryError ? withAdvice(error, encoded.length) : error;
    }
  }

  /**
   * Loads all events of a run, as they were when the load began. A run that does not exist has no events.
   *
   * Codes: `AGENT_ID_REQUIRED`, `RUN_ID_REQUIRED`, `INPUT_INVALID`, and those of `runtime.callAsHost`.
   */
  async load(agentId: string, runId: string): Promise<Snapshot> {
    try {
      return await this.#load({ agentId, runId });
    } catch (error) {
      if (!(error instanceof RunHistoryError) || error.code !== "CURSOR_INVALID") throw error;
      // Someone has deleted the run between two pages, and perhaps begun it again.
      return await this.#load({ agentId, runId });
    }
  }

  /**
   * Loads only the events that were appended after the load that returned the cursor, whatever their timestamps. Each
   * new event comes exactly once if each cursor is used once.
   *
   * Codes: as for `load`, and `CURSOR_INVALID` if the run has been deleted since.
   *
   * @param cursor `meta.cursor` of an earlier snapshot of this run.
   */
  async loadSince(agentId: string, runId: string, cursor: string): Promise<Snapshot> {
    return await this.#load({ agentId, runId }, cursor);
  }

  async #load(ids: RunIds, cursor?: string): Promise<Snapshot> {
    const first = await this.#loadPage(ids, cursor);
    const pages = [first];
    for (let page = first; page.more; pages.push(page)) page = await this.#loadPage(ids, page.meta.cursor);
    const events = pages.flatMap((page) => page.events.map(decodeEvent));
    const found = events.filter((event) => event !== null);
    const damagedLines = pages.reduce((sum, { meta }) => sum + meta.damagedLines, events.length - found.length);
    return {
      ...ids,
      events: found,
      meta: {
        bytes: first.meta.bytes,
        segments: first.meta.segments,
        damagedLines,
        cursor: pages.at(-1)?.meta.cursor ?? first.meta.cursor,
      },
    };
  }

  async #loadPage(ids: RunIds, cursor: string | undefined): Promise<Page> {
    return (await this.#call("LoadRun", { ...ids, ...(cursor !== undefined && { cursor }) })) as Page;
  }

  async #call(tool: string, input: unknown): Promise<unknown> {
    const result = await this.#runtime.callAsHost(`run-history/${tool}`, input, this.#ctx);
    if (result.ok) return result.data;
    const { error, hint } = result;
    // No model sees it: the program has called.
    throw new RunHistoryError(hint === undefined ? error : { ...error, message: `${error.message}. ${hint}` });
  }
}

/** A misspelt `appendId` would store a repeated append twice. */
function checkAppend(options: AppendOptions): AppendOptions {
  const other = unknownField(options, { appendId: true } satisfies FieldsOf<AppendOptions>);
  if (other === null) return options;
  const message = `append has the unknown option ${other.name}; did you mean ${other.nearest}?`;
  throw new RunHistoryError({ code: "INPUT_INVALID", message });
}

/** Fields that are the whole batch: it has too many events, or too many bytes. */
const isOfBatch = ({ field }: InputIssue): boolean => field === "input" || field === "events";

function withAdvice(error: RunHistoryError, count: number): RunHistoryError {
  if (error.code !== "INPUT_INVALID" || error.issues?.some(isOfBatch) !== true) return error;
  const advice = `the batch has ${count} events and is stored whole or not at all, so append fewer at a time`;
  const { code, of, issues, retryable } = error;
  return new RunHistoryError({ code, of, issues, retryable, message: `${error.message}; ${advice}` });
}
