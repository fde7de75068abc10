import type { InputIssue } from "../envelope.ts";
import { unknownField } from "../known-fields.ts";
import type { FieldsOf } from "../known-fields.ts";
import type { OriginClass } from "../origin.ts";
import { joinTexts, splitTexts, storedBytes } from "./long-texts.ts";
import { inputError, RunHistoryError } from "./run-history-error.ts";
import type { CallFailure } from "./run-history-error.ts";
import type { Snapshot, SnapshotMeta } from "./snapshot.ts";
import type { WireEvent } from "./wire-event.ts";
import { encodeEvent } from "./wire.ts";
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
   * answers as the first did. A run remembers all its ids. Default: every append stores its events.
   */
  readonly appendId?: string | undefined;
  /**
   * A cursor of an earlier load: if events have been appended since, nothing is stored, and the promise rejects with
   * `RUN_CHANGED`. Default: stored in any case.
   */
  readonly unchangedSince?: string | undefined;
}

export interface LoadOptions {
  /** `"snapshot"`: the last snapshot and what was appended after it; everything if there is none. Default: `"start"`. */
  readonly from?: "start" | "snapshot" | undefined;
  /** `"insertion"`: as the events were appended, whatever their timestamps. Default: `"time"`. */
  readonly order?: "time" | "insertion" | undefined;
}

/** What `list` says of a run. */
export interface ListedRun {
  readonly agentId: string;
  readonly runId: string;
  /** How many lines its events take. */
  readonly events: number;
  /** The earliest and the latest timestamp; empty if there are no events. */
  readonly firstAt: string;
  readonly lastAt: string;
  /** The size of all its files. */
  readonly bytes: number;
}

/** An answer of `LoadRun`. */
export interface EventsPage {
  readonly events: readonly WireEvent[];
  readonly more: boolean;
  readonly meta: SnapshotMeta;
}

interface LoadInput extends LoadOptions {
  readonly cursor?: string;
}

interface Appended {
  readonly appended: number;
}

/** An answer of `ListRuns`. */
export interface RunsPage {
  readonly entries: readonly ListedRun[];
  readonly after: string | null;
}

export interface RunIds {
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
   * stored without the rest. Only long texts of `opaqueData` and `snapshotData` are stored before it, in parts that no
   * reader sees; an append that is refused for a cursor, or for lack of room, is refused before the first of them. What
   * breaks off later leaves parts behind. A repeated append with the same `appendId` and text uses them.
   *
   * Codes: `AGENT_ID_REQUIRED`, `RUN_ID_REQUIRED`, `INPUT_INVALID`, `EVENT_DATA_NIL`, `EVENT_DATA_NOT_MAP`,
   * `EVENT_FIELD_MISSING`, `EVENT_FIELD_INVALID`, `JSON_TRAILING_DATA`, `JSON_INVALID`, `QUOTA_EXCEEDED`, `RUN_CHANGED`,
   * `CURSOR_INVALID`, and those of `runtime.callAsHost`.
   */
  async append(
    agentId: string,
    runId: string,
    events: readonly GivenEvent[],
    options: AppendOptions = {},
  ): Promise<number> {
    const { appendId, unchangedSince } = checkOptions("append", options, appendFields);
    // A program that has lost its cursor must not append without it.
    if (unchangedSince === null) {
      throw inputError("append", { field: "unchangedSince", value: "null", allowed: "a cursor, or undefined" });
    }
    const encoded = events.map((event, at) => encodeEvent(event, `events[${at}]`));
    if (encoded.length === 0) return 0;
    const ids = { agentId, runId };
    const { events: short, batches } = await splitTexts(encoded, appendId ?? crypto.randomUUID());
    try {
      const terms = unchangedSince !== undefined && { unchangedSince };
      // With the files of a run that begins.
      let bytesToFollow = 1_024 + storedBytes([...batches.flatMap((batch) => batch.events), ...short]);
      for (const [at, batch] of batches.entries()) {
        bytesToFollow -= storedBytes(batch.events);
        await this.#call("AppendRunEvents", { ...ids, ...batch, bytesToFollow, ...(at === 0 && terms) });
      }
      const input = { ...ids, events: short, ...(appendId !== undefined && { appendId }), ...terms };
      return ((await this.#call("AppendRunEvents", input)) as Appended).appended;
    } catch (error) {
      throw error instanceof RunHistoryError ? withAdvice(error, encoded.length) : error;
    }
  }

  /**
   * Loads all events of a run, as they were when the load began. A run that does not exist has no events.
   *
   * Codes: `AGENT_ID_REQUIRED`, `RUN_ID_REQUIRED`, `INPUT_INVALID`, and those of `runtime.callAsHost`.
   */
  async load(agentId: string, runId: string, options: LoadOptions = {}): Promise<Snapshot> {
    const ids = { agentId, runId };
    checkOptions("load", options, loadFields);
    try {
      return await this.#load(ids, options);
    } catch (error) {
      if (!(error instanceof RunHistoryError) || error.code !== "CURSOR_INVALID") throw error;
      // Someone has deleted the run between two pages, and perhaps begun it again.
      return await this.#load(ids, options);
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
    return await this.#load({ agentId, runId }, { cursor });
  }

  /**
   * The user's runs, or those of one agent, sorted by their folders.
   *
   * Codes: those of `runtime.callAsHost`.
   */
  async list(agentId?: string): Promise<ListedRun[]> {
    const runs: ListedRun[] = [];
    let after: string | null | undefined;
    while (after !== null) {
      const input = { ...(agentId !== undefined && { agentId }), ...(after !== undefined && { after }) };
      const page = (await this.#call("ListRuns", input)) as RunsPage;
      runs.push(...page.entries);
      after = page.after;
    }
    return runs;
  }

  /**
   * Moves a run to the trash, from which `memcell` can restore it. Resolves to whether there was one.
   *
   * Codes: `AGENT_ID_REQUIRED`, `RUN_ID_REQUIRED`, `INPUT_INVALID`, and those of `runtime.callAsHost`.
   */
  async delete(agentId: string, runId: string): Promise<boolean> {
    try {
      await this.#call("DeleteRun", { agentId, runId });
      return true;
    } catch (error) {
      if (error instanceof RunHistoryError && error.code === "RUN_NOT_FOUND") return false;
      throw error;
    }
  }

  async #load(ids: RunIds, { cursor, from, order }: LoadInput): Promise<Snapshot> {
    const where = cursor === undefined ? { ...(from !== undefined && { from }) } : { cursor };
    const { wire, pages } = await this.#loadPages(ids, { ...where, ...(order !== undefined && { order }) });
    let joined = await joinTexts(wire);
    // A load that does not begin at the run's start can begin among the parts of a text.
    if (joined.includes(null) && (cursor !== undefined || from === "snapshot"))
      joined = await joinTexts(wire, (await this.#loadPages(ids, {})).wire);
    const events = joined.filter((event) => event !== null);
    const lost = joined.length - events.length;
    const [first, last] = [pages[0], pages.at(-1)];
    return {
      ...ids,
      events,
      meta: {
        bytes: first?.meta.bytes ?? 0,
        segments: first?.meta.segments ?? 0,
        damagedLines: pages.reduce((sum, { meta }) => sum + meta.damagedLines, lost),
        cursor: last?.meta.cursor ?? "",
      },
    };
  }

  async #loadPages(ids: RunIds, { order, ...where }: LoadInput): Promise<{ wire: WireEvent[]; pages: EventsPage[] }> {
    const pages: EventsPage[] = [];
    let next: LoadInput | null = where;
    while (next !== null) {
      const page = (await this.#call("LoadRun", {
        ...ids,
        ...next,
        ...(order !== undefined && { order }),
      })) as EventsPage;
      pages.push(page);
      next = page.more ? { cursor: page.meta.cursor } : null;
    }
    return { wire: pages.flatMap(({ events }) => events), pages };
  }

  async #call(tool: string, input: unknown): Promise<unknown> {
    const result = await this.#runtime.callAsHost(`run-history/${tool}`, input, this.#ctx);
    if (result.ok) return result.data;
    const { error, hint } = result;
    // No model sees it: the program has called.
    throw new RunHistoryError(hint === undefined ? error : { ...error, message: `${error.message}. ${hint}` });
  }
}

const appendFields = { appendId: true, unchangedSince: true } satisfies FieldsOf<AppendOptions>;

const loadFields = { from: true, order: true } satisfies FieldsOf<LoadOptions>;

/** A misspelt `appendId` would store a repeated append twice. */
function checkOptions<Options extends object>(
  method: string,
  options: Options,
  fields: Readonly<Record<string, true>>,
): Options {
  const other = unknownField(options, fields);
  if (other === null) return options;
  const message = `${method} has the unknown option ${other.name}; did you mean ${other.nearest}?`;
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
