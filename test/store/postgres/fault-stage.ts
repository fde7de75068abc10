/** A server of a test's own, which it stops, fills or blocks, and what a call and a caller get of that. */
import type { ToolError } from "memcell";
import type pg from "pg";

import { ChangeNews } from "../../../host/store/postgres/change-news.ts";
import { Database } from "../../../host/store/postgres/database.ts";
import { Holds, PostgresEngine } from "../../../host/store/postgres/postgres-engine.ts";
import { openEngine } from "../../stage/open-store.ts";
import { defaultSettings } from "../../stage/store.ts";
import type { HeldUser, OpenedStore, UserId } from "../../stage/store.ts";
import { prepareDatabase } from "../../support/postgres/fresh-database.ts";
import { startPostgres } from "../../support/postgres/postgres-server.ts";
import type { PostgresOptions, PostgresServer } from "../../support/postgres/postgres-server.ts";
import { soon, textIn, write } from "../store-stage.ts";

export const alice = "alice" as UserId;

export async function faultServer(options: PostgresOptions = {}): Promise<PostgresServer & { readonly host: string }> {
  const server = await startPostgres(options);
  return Object.assign(server, { host: await prepareDatabase(server, "memory") });
}

interface StoreOptions {
  readonly connectionsMax: number;
  /** How long an answer may take. */
  readonly answerMs?: number;
  /** What is told to other hosts takes another way, so that only the messages of a change are counted. */
  readonly newsUrl?: string;
}

/** A store with what no program can set. */
export function openFaulty(url: string, { newsUrl, ...options }: StoreOptions): OpenedStore {
  const setup = { isRelaxed: false, clock: Date.now, note: () => {}, ...options };
  const database = new Database({ ...setup, url });
  const news = new ChangeNews(newsUrl === undefined ? database : new Database({ ...setup, url: newsUrl }));
  return openEngine(new PostgresEngine({ database, news, holds: new Holds(), settings: defaultSettings }));
}

/** Writes the same text into two files. */
export function commit(store: OpenedStore, text: string | Buffer, signal?: AbortSignal): Promise<void> {
  const work = (held: HeldUser): Promise<void> => held.commit([write("a.md", text), write("b.md", text)], []);
  return store.holdUser(alice, { ...soon(), signal }, work);
}

/** What both files have, and how many versions there are. */
export function shown(store: OpenedStore) {
  return store.holdUser(alice, { ...soon(), writes: false }, async ({ reader, history }) => ({
    versions: (await history.versions()).length,
    a: await textIn(reader, "memory", "a.md"),
    b: await textIn(reader, "memory", "b.md"),
  }));
}

export const errorOf = (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    () => null,
    (error: unknown) => error,
  );

/** Returns when this many sessions of hosts wait for a lock. */
export async function untilWaiting(admin: pg.Client, count: number): Promise<void> {
  const waiting = `SELECT count(*)::int AS count FROM pg_stat_activity WHERE usename = 'memcell_host'
    AND wait_event_type = 'Lock' AND datname = current_database()`;
  while ((await admin.query<{ count: number }>(waiting)).rows[0]?.count !== count);
}

/** Words that a caller must never read: of the database, of its client, of the way to it. */
const inner = [
  /\b(?:select|insert|update|delete|begin|commit|rollback|sql|sqlstate|relation|table|schema|role|query|queryable)\b/i,
  /memcell[._]|\bpg_|postgres|\bE[A-Z]{4,}\b|\/tmp|\.s\.|\bport\b|socket|localhost|(?:\d+\.){3}\d+|errno|terminat/i,
];

export const isInner = (text: string): boolean => inner.some((pattern) => pattern.test(text));

/** The codes that a fault of the database can have, and whether a call can be repeated. */
const codes: Readonly<Record<string, boolean>> = {
  STORAGE_BUSY: true,
  BUSY: true,
  STORAGE_FAILED: false,
  STORAGE_FULL: false,
};

/** What is wrong with an error that a caller gets; `null` if nothing. */
export function unfit(thrown: unknown): string | null {
  // The tests use the host's sources and the package side by side, and each has a class of its own.
  if (!(thrown instanceof Error) || thrown.name !== "ToolError") return `no ToolError: ${String(thrown)}`;
  const { code, retryable, message, hint = "" } = thrown as ToolError;
  if (retryable !== codes[code]) return `code ${code}, retryable: ${retryable}`;
  return isInner(`${message} ${hint}`) ? `its message: ${message}` : null;
}
