import { hash, randomUUID } from "node:crypto";

import { ownStoreOf } from "../../values/ids.ts";
import type { StoreId, UserId } from "../../values/ids.ts";
import type { Database } from "./database.ts";
import { nobody, sql } from "./statement.ts";

/** How long changes are collected before they are told. */
const collectMs = 50;
/** How often the versions are asked for, in case a host died before it sent its notice. */
const pollMs = 60_000;
/** How long to wait before another connection is tried. */
const reconnectMs = 1_000;

const channel = "memcell_changes";

interface Watch {
  readonly tenant: StoreId;
  /** By which notices name the tenant. */
  readonly opaque: string;
  readonly changed: () => void;
  /** The last versions of the tenant's homes; `null` after a change that this host has made or heard of. */
  version: string | null | undefined;
}

/**
 * Tells other hosts which tenants were changed, and hears it from them, over a connection of its own. Everybody who is
 * connected to the database can listen, so what is told is a hash of the tenant, and nothing of the change.
 */
export class ChangeNews {
  readonly #database: Database;
  /** By which a host knows what it has told itself. */
  readonly #self = randomUUID();
  readonly #watches = new Set<Watch>();
  readonly #toTell = new Set<StoreId>();
  #listening: Promise<() => Promise<void>> | null = null;
  #timers: { tell?: NodeJS.Timeout; poll?: NodeJS.Timeout; connect?: NodeJS.Timeout } = {};
  #isClosed = false;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Something of a tenant was committed here. */
  tell(tenant: StoreId): void {
    if (this.#isClosed) return;
    this.#toTell.add(tenant);
    this.#forgetVersion((watch) => watch.tenant === tenant);
    this.#timers.tell ??= setTimeout(() => void this.#tellAll(), collectMs).unref();
  }

  /** Calls `changed` when another host has changed what is the user's. Returns the function that ends it. */
  watch(userId: UserId, changed: () => void): () => void {
    const tenant = ownStoreOf(userId);
    const watch: Watch = { tenant, opaque: opaque(tenant), changed, version: undefined };
    this.#watches.add(watch);
    this.#listen();
    void this.#poll([watch], "the minute");
    return () => void this.#watches.delete(watch);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const timer of Object.values(this.#timers)) clearTimeout(timer);
    this.#watches.clear();
    if (this.#toTell.size > 0) await this.#tellAll();
    const end = await this.#listening?.catch(() => null);
    await end?.();
  }

  async #tellAll(): Promise<void> {
    delete this.#timers.tell;
    const told = [...this.#toTell].map((tenant) => `${this.#self} ${opaque(tenant)}`);
    this.#toTell.clear();
    // Nobody waits for the disk: if it is lost, others find out by asking.
    const tell = sql`SELECT set_config('synchronous_commit', 'off', true), pg_notify(${channel}, t.text)
      FROM unnest(${told}::text[]) AS t (text)`;
    await this.#database.change(nobody, tell).catch(() => {});
  }

  #listen(): void {
    if (this.#isClosed || this.#listening !== null || this.#timers.connect !== undefined) return;
    const ended = (): void => this.#reconnect();
    this.#listening = this.#database.listen(channel, (text) => this.#hear(text), ended);
    this.#listening.then(() => void this.#poll([...this.#watches], "a gap"), ended);
    this.#timers.poll ??= setInterval(() => void this.#poll([...this.#watches], "the minute"), pollMs).unref();
  }

  /** What was told meanwhile is lost, so the versions are asked for when there is a connection again. */
  #reconnect(): void {
    this.#listening = null;
    if (this.#isClosed || this.#watches.size === 0) return;
    this.#timers.connect ??= setTimeout(() => {
      delete this.#timers.connect;
      this.#listen();
    }, reconnectMs).unref();
  }

  #hear(text: string): void {
    const [self, told] = text.split(" ");
    if (self === this.#self) return;
    for (const watch of this.#forgetVersion((each) => each.opaque === told)) watch.changed();
  }

  /** Of a change that is known, the next version says nothing new. */
  #forgetVersion(isOf: (watch: Watch) => boolean): Watch[] {
    const watches = [...this.#watches].filter(isOf);
    for (const watch of watches) watch.version = null;
    return watches;
  }

  /** Tells of versions that are new. After a gap, also if the one before was forgotten: more changes can be behind it. */
  async #poll(watches: readonly Watch[], after: "the minute" | "a gap"): Promise<void> {
    if (watches.length === 0) return;
    const tenants = [...new Set(watches.map(({ tenant }) => tenant))];
    const asked = sql<{ tenant: StoreId; version: string }>`
      SELECT tenant, version FROM memcell.home_versions(${tenants})`;
    const rows = await this.#database.ask(nobody, asked).catch(() => null);
    if (rows === null) return;
    const versions = new Map(rows.map(({ tenant, version }) => [tenant, version]));
    for (const watch of watches) {
      const before = watch.version;
      watch.version = versions.get(watch.tenant) ?? "";
      const isNew = before === null ? after === "a gap" : before !== undefined && before !== watch.version;
      if (isNew && this.#watches.has(watch)) watch.changed();
    }
  }
}

const opaque = (tenant: StoreId): string => hash("sha256", `memcell:${tenant}`).slice(0, 32);
