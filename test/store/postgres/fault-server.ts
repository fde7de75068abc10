/** A server of a test's own, which it stops, fills or blocks. */
import type pg from "pg";

import type { HeldUser, Store, UserId } from "../../stage/store.ts";
import { prepareDatabase } from "../../support/postgres/fresh-database.ts";
import { startPostgres } from "../../support/postgres/postgres-server.ts";
import type { PostgresOptions, PostgresServer } from "../../support/postgres/postgres-server.ts";
import { write } from "../store-stage.ts";

export const alice = "alice" as UserId;

export async function faultServer(options: PostgresOptions = {}): Promise<PostgresServer & { readonly host: string }> {
  const server = await startPostgres(options);
  await server.createDatabase("memory");
  await prepareDatabase(server, "memory");
  return Object.assign(server, { host: server.url("memcell_host", "memory") });
}

export const soon = (ms = 30_000): { writes: true; until: number } => ({ writes: true, until: performance.now() + ms });

/** Writes the same text into two files. */
export function commit(store: Store, text: string | Buffer, signal?: AbortSignal): Promise<void> {
  const work = (held: HeldUser): Promise<void> => held.commit([write("a.md", text), write("b.md", text)], []);
  return store.hold(alice, { ...soon(), signal }, work);
}

const textOf = (bytes: Uint8Array | null | undefined): string | null => (bytes ? Buffer.from(bytes).toString() : null);

/** What both files have, and how many versions there are. */
export function shown(store: Store): Promise<{ versions: number; a: string | null; b: string | null }> {
  return store.hold(alice, { ...soon(), writes: false }, async ({ reader, history }) => {
    const [a, b] = await Promise.all(["a.md", "b.md"].map((path) => reader.bytesOf("memory", path)));
    return { versions: (await history.versions()).length, a: textOf(a), b: textOf(b) };
  });
}

export const errorOf = (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    () => null,
    (error: unknown) => error,
  );

/** Returns when this many sessions of hosts wait for a lock. */
export async function untilWaiting(admin: pg.Client, count: number): Promise<void> {
  const waiting =
    "SELECT count(*)::int AS count FROM pg_stat_activity WHERE usename = 'memcell_host' AND wait_event_type = 'Lock'";
  while ((await admin.query<{ count: number }>(waiting)).rows[0]?.count !== count);
}
