import { hash, randomUUID } from "node:crypto";

import { ownStoreOf } from "../../values/store-id.ts";
import type { StoreId } from "../../values/store-id.ts";
import type { UserId } from "../../values/user-id.ts";
import { nobody } from "./acting.ts";
import type { Database, ListeningClient } from "./database.ts";
import { homeVersions, tellChanged } from "./statements.ts";

/** How long changes are collected before they are told. */
const collectMs = 50;
/** How often the versions are asked for, in case that a host has died before it told what it had committed. */
const pollMs = 60_000;
/** How long to wait before another connection is tried. */
const reconnectMs = 1_000;

const channel = "memcell_changes";

interface Watch {
  readonly tenant: StoreId;
  readonly changed: () => void;
  /** The last versions of the tenant's homes that are known. */
  version: string;
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
  #listening: Promise<ListeningClient> | null = null;
  #timers: { tell?: NodeJS.Timeout; poll?: NodeJS.Timeout; connect?: NodeJS.Timeout } = {};
  #isClosed = false;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Something of a tenant was committed here. */
  tell(tenant: StoreId): void {
    this.#toTell.add(tenant);
    this.#timers.tell ??= setTimeout(() => void this.#tellAll(), collectMs).unref();
  }

  /** Calls `changed` when another host has changed what is the user's. Returns the function that ends it. */
  watch(userId: UserId, changed: () => void): () => void {
    const watch: Watch = { tenant: ownStoreOf(userId), changed, version: "" };
    this.#watches.add(watch);
    this.#listen();
    void this.#poll([watch], false);
    return () => void this.#watches.delete(watch);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const timer of Object.values(this.#timers)) clearTimeout(timer);
    this.#watches.clear();
    if (this.#toTell.size > 0) await this.#tellAll();
    const client = await this.#listening?.catch(() => null);
    await client?.end();
  }

  async #tellAll(): Promise<void> {
    delete this.#timers.tell;
    const told = [...this.#toTell].map((tenant) => `${this.#self} ${opaque(tenant)}`);
    this.#toTell.clear();
    // If it is not told, others find out by asking.
    await this.#database.change(nobody, tellChanged(channel, told)).catch(() => {});
  }

  #listen(): void {
    if (this.#isClosed || this.#listening !== null || this.#timers.connect !== undefined) return;
    const listening = this.#database.listen(channel, {
      heard: (text) => this.#hear(text),
      ended: () => this.#reconnect(),
    });
    this.#listening = listening;
    listening.then(
      () => void this.#poll([...this.#watches], true),
      () => this.#reconnect(),
    );
    this.#timers.poll ??= setInterval(() => void this.#poll([...this.#watches], true), pollMs).unref();
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
    for (const watch of this.#watches) if (opaque(watch.tenant) === told) watch.changed();
  }

  async #poll(watches: readonly Watch[], tells: boolean): Promise<void> {
    if (watches.length === 0) return;
    const tenants = [...new Set(watches.map(({ tenant }) => tenant))];
    const rows = await this.#database.ask(nobody, homeVersions(tenants)).catch(() => null);
    if (rows === null) return;
    const versions = new Map(rows.map(({ tenant, version }) => [String(tenant), String(version)]));
    for (const watch of watches) {
      const version = versions.get(watch.tenant) ?? "";
      const isNew = version !== watch.version;
      watch.version = version;
      if (tells && isNew && this.#watches.has(watch)) watch.changed();
    }
  }
}

const opaque = (tenant: StoreId): string => hash("sha256", `memcell:${tenant}`).slice(0, 32);
