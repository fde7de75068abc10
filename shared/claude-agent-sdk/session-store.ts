import { opaqueData, RunHistory, snapshotData } from "../run-history/index.ts";
import type { Event, LoadOptions, RunHistoryContext, RunHistoryRuntime, Snapshot } from "../run-history/index.ts";
import { sha256 } from "../run-history/long-texts.ts";
import { inputError } from "../run-history/run-history-error.ts";
import { damagedTranscript, isOvertaken, loadTranscript, ofTranscript, valueOf } from "../run-history/transcript.ts";

/** `SessionKey` of the SDK: a session, or with a `subpath` the transcript of one of its subagents. */
export interface SessionKey {
  projectKey: string;
  sessionId: string;
  subpath?: string;
}

/** `SessionStoreEntry` of the SDK: one line of a transcript, any JSON object. */
interface Entry {
  type: string;
  uuid?: string;
  timestamp?: string;
  [key: string]: unknown;
}

/** `SessionSummaryEntry` of the SDK. */
export interface SessionSummary {
  sessionId: string;
  mtime: number;
  data: Record<string, unknown>;
}

/** `foldSessionSummary` of the SDK. */
export type FoldSummary = (previous: SessionSummary | undefined, key: SessionKey, entries: Entry[]) => SessionSummary;

export interface SessionStoreOptions {
  /** The SDK's function of this name. With it, a list of sessions reads only what is new in each. Default: none. */
  readonly foldSessionSummary?: FoldSummary | undefined;
}

/**
 * `SessionStore` of `@anthropic-ai/claude-agent-sdk`.
 *
 * Codes of every promise: `RUN_ID_REQUIRED` for an empty `sessionId`; `INPUT_INVALID` for a `projectKey` of more than 239
 * UTF-8 bytes, or a `sessionId` that has more than 256 with its `subpath`; and those of `runtime.callAsHost`. Each method
 * names its own ones.
 */
export interface SessionStore {
  /**
   * Stores a batch, once if it has an entry with a `uuid`.
   *
   * Codes: `INPUT_INVALID` for what is no JSON or has more than 8 Mi characters as JSON; `QUOTA_EXCEEDED` if the user's
   * runs have no room.
   */
  append(key: SessionKey, entries: Entry[]): Promise<void>;
  /**
   * The entries of a transcript in the order of the appends; `null` if there is none.
   *
   * Codes: `ENTRY_UNREADABLE` if lines of the transcript are damaged.
   */
  load(key: SessionKey): Promise<Entry[] | null>;
  /** The sessions of a project, without those of subagents. `mtime`: of the last append, in milliseconds since 1970. */
  listSessions(projectKey: string): Promise<{ sessionId: string; mtime: number }[]>;
  /** The `subpath`s of a session's subagents. */
  listSubkeys(key: { projectKey: string; sessionId: string }): Promise<string[]>;
  /** Moves a session with its subagents, or one subagent, to the trash of the user's memory. */
  delete(key: SessionKey): Promise<void>;
  /**
   * What the SDK's function has folded of each session of a project. There only if the store was made with it.
   *
   * Codes: `ENTRY_UNREADABLE`, `QUOTA_EXCEEDED`.
   */
  listSessionSummaries?(projectKey: string): Promise<SessionSummary[]>;
}

/**
 * Keeps transcripts of Claude Agent SDK in the run history of `ctx.userId`, as the option `sessionStore` of `query`. Safe
 * for any number of calls, processes and hosts at once.
 *
 * A batch is stored whole or not at all, and a repeated one once. Of entries with the same `uuid`, the first counts. A
 * batch has at most 8 Mi characters as JSON. Every promise rejects with a `RunHistoryError`; `SessionStore` lists the
 * codes.
 *
 * @example
 * query({ prompt: "Continue", options: { sessionStore: sessionStore(runtime, { userId: "alice" }), resume } });
 *
 * A transcript has what tools have returned, so a model that reads it with `ReadRunHistory` is exposed to `tool_external`,
 * unless the context has another `origin`.
 *
 * @param ctx The context of every call, as for `runtime.call`. The user comes from your authentication.
 */
export function sessionStore(
  runtime: RunHistoryRuntime,
  ctx: RunHistoryContext,
  { foldSessionSummary }: SessionStoreOptions = {},
): SessionStore {
  const store = new Transcripts(new RunHistory(runtime, ofTranscript(ctx)));
  return {
    append: (key, entries) => store.append(key, entries),
    load: (key) => store.load(key),
    listSessions: (projectKey) => store.listSessions(projectKey),
    listSubkeys: (key) => store.listSubkeys(key),
    delete: (key) => store.delete(key),
    ...(foldSessionSummary && { listSessionSummaries: (project) => store.summaries(project, foldSessionSummary) }),
  };
}

const format = "claude-agent-sdk";

/** A summary is stored as a snapshot once so many characters would have to be read again for the next list. */
const charsFoldedMax = 65_536;

class Transcripts {
  readonly #history: RunHistory;

  constructor(history: RunHistory) {
    this.#history = history;
  }

  async append(key: SessionKey, entries: readonly Entry[]): Promise<void> {
    if (entries.length === 0) return;
    const json = textOf(entries);
    const data = opaqueData({ format, json });
    // Entries without a `uuid` can rightly be repeated.
    const appendId = entries.some(hasUuid) ? await sha256(json) : undefined;
    await this.#history.append(agentOf(key), runOf(key), [{ type: data.eventType, data }], { appendId });
  }

  async load(key: SessionKey): Promise<Entry[] | null> {
    const { events } = await this.#events(key);
    const entries = events.flatMap((event) => (event.type === "opaque" ? entriesOf(event, key) : []));
    return entries.length === 0 ? null : firstOfEach(entries);
  }

  async listSessions(projectKey: string): Promise<{ sessionId: string; mtime: number }[]> {
    const runs = await this.#runs(projectKey);
    return runs.flatMap(({ sessionId, subpath, mtime }) => (subpath === undefined ? [{ sessionId, mtime }] : []));
  }

  async listSubkeys({ projectKey, sessionId }: SessionKey): Promise<string[]> {
    const runs = await this.#runs(projectKey);
    return runs.flatMap((run) => (run.sessionId === sessionId && run.subpath !== undefined ? [run.subpath] : []));
  }

  /** The transcript itself goes last, so that a deletion that fails can be repeated. */
  async delete(key: SessionKey): Promise<void> {
    const { projectKey, sessionId } = key;
    const below = key.subpath === undefined ? await this.listSubkeys(key) : [];
    for (const subpath of below) await this.#history.delete(agentOf(key), runOf({ projectKey, sessionId, subpath }));
    await this.#history.delete(agentOf(key), runOf(key));
  }

  async summaries(projectKey: string, fold: FoldSummary): Promise<SessionSummary[]> {
    const summaries: SessionSummary[] = [];
    for (const { sessionId, mtime } of await this.listSessions(projectKey)) {
      const summary = await this.#summary({ projectKey, sessionId }, mtime, fold);
      if (summary !== null) summaries.push(summary);
    }
    return summaries;
  }

  async #summary(key: SessionKey, mtime: number, fold: FoldSummary): Promise<SessionSummary | null> {
    const { events, meta } = await this.#events(key, "snapshot");
    let summary: SessionSummary | undefined;
    let chars = 0;
    for (const event of events) {
      if (event.type === "snapshot") [summary, chars] = [summaryOf(event, key), 0];
      else summary = fold(summary, key, entriesOf(event, key).filter(isSomething));
      chars += String(event.data["json"]).length;
    }
    if (summary === undefined) return null;
    const last = events.at(-1);
    if (chars > charsFoldedMax && last?.type === "opaque") {
      const data = snapshotData({ format, json: JSON.stringify(summary) });
      // With the time of the last entries, so that the list of sessions does not call the session newer than it is.
      const event = { type: data.eventType, data, timestamp: last.timestamp };
      await this.#history
        .append(agentOf(key), runOf(key), [event], { unchangedSince: meta.cursor })
        .catch(ignoreOvertaken);
    }
    return { ...summary, mtime };
  }

  async #events(key: SessionKey, from?: LoadOptions["from"]): Promise<Snapshot> {
    return await loadTranscript(this.#history, { agentId: agentOf(key), runId: runOf(key), format }, from);
  }

  async #runs(projectKey: string): Promise<StoredRun[]> {
    const runs = await this.#history.list(agentOf({ projectKey }));
    return runs.map(({ runId, lastAt }) => {
      const [session = "", ...path] = runId.split("/");
      const subpath = path.length === 0 ? undefined : path.join("/");
      return { sessionId: sessionIn(session), subpath, mtime: Math.floor(Date.parse(lastAt || "1970-01-01")) };
    });
  }
}

interface StoredRun {
  readonly sessionId: string;
  readonly subpath: string | undefined;
  readonly mtime: number;
}

const agentOf = ({ projectKey }: Pick<SessionKey, "projectKey">): string => `${format}/${projectKey}`;

/** `SESSION` or `SESSION/SUBPATH`: no session's id has a slash then. */
const runOf = ({ sessionId, subpath }: SessionKey): string =>
  sessionId.replaceAll("%", "%25").replaceAll("/", "%2F") + (subpath === undefined ? "" : `/${subpath}`);

const sessionIn = (part: string): string => part.replaceAll("%2F", "/").replaceAll("%25", "%");

/** Without the value, which may be a secret. */
function textOf(entries: readonly Entry[]): string {
  try {
    return JSON.stringify(entries);
  } catch {
    throw inputError("keep the entries", { field: "entries", value: "something else", allowed: "JSON" });
  }
}

function entriesOf(event: Event, key: SessionKey): Entry[] {
  const value = valueOf(event);
  if (Array.isArray(value)) return value as Entry[];
  throw damagedTranscript(runOf(key));
}

function summaryOf(event: Event, key: SessionKey): SessionSummary {
  const value = valueOf(event);
  if (typeof value === "object" && value !== null && "data" in value) return value as SessionSummary;
  throw damagedTranscript(runOf(key));
}

/** The SDK's own store keeps any JSON value as an entry; its function for summaries takes all of them but `null`. */
const isSomething = (entry: unknown): boolean => entry !== null;

const hasUuid = (entry: unknown): entry is Entry & { uuid: string } => {
  const uuid = (entry as Partial<Entry> | null)?.uuid;
  return typeof uuid === "string" && uuid !== "";
};

function firstOfEach(entries: readonly Entry[]): Entry[] {
  const seen = new Set<string>();
  return entries.filter((entry) => !hasUuid(entry) || (!seen.has(entry.uuid) && seen.add(entry.uuid)));
}

/** Another list has stored the summary, or entries have been appended. */
function ignoreOvertaken(error: unknown): void {
  if (!isOvertaken(error)) throw error;
}
