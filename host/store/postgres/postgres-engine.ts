/** Keeps homes in a PostgreSQL database that several hosts can share. */
import { randomUUID } from "node:crypto";

import { ownStoreOf, storeOfScope } from "../../values/ids.ts";
import type { StoreId } from "../../values/ids.ts";
import { ToolError } from "../../values/tool-error.ts";
import { UserQueue } from "../../values/turns.ts";
import type { FindAnswer, ReadQuestion } from "../bridge/answer-reads.ts";
import type { StoreSettings } from "../definition.ts";
import type { Engine, EngineHold, EngineHome, EngineHomes } from "../engine.ts";
import { byAge } from "../grant-hints.ts";
import type { GrantHint } from "../grant-hints.ts";
import { commits, keyOf } from "../home.ts";
import type { Home, Mode } from "../home.ts";
import type { ChangeNews } from "./change-news.ts";
import { dumpHome, loadHome } from "./database-dump.ts";
import { findingsOf, historyOf } from "./database-history.ts";
import { DatabaseHome } from "./database-home.ts";
import type { Acting, Database, Transaction } from "./database.ts";
import { planCommit } from "./planned-commit.ts";
import type { PlannedCommit } from "./planned-commit.ts";
import { column, homeIn, leftBy, listErased, listHomes, lockOf, nobody, placeOf, sql } from "./statement.ts";
import type { HomePlace, Statement } from "./statement.ts";

interface EngineParts {
  readonly database: Database;
  readonly holds: Holds;
  readonly news: ChangeNews;
  readonly settings: StoreSettings;
}

export class PostgresEngine implements Engine {
  readonly mounts = [];
  readonly #parts: EngineParts;
  /** So that of this host, only one call of a home waits in the database. */
  readonly #queue = new UserQueue();

  constructor(parts: EngineParts) {
    this.#parts = parts;
  }

  async hold<Result>(
    homes: readonly Home[],
    mode: Mode,
    options: EngineHold,
    work: (held: EngineHomes) => Promise<Result>,
  ): Promise<Result> {
    const { onlyRead = [], scopes = null, isReadOnly = false } = options;
    const isLocking = !isReadOnly && (commits(mode) || mode === "erase");
    const unlocked = new Set(onlyRead.map(keyOf));
    const locked = isLocking ? homes.filter((home) => !unlocked.has(keyOf(home))) : [];
    const acting = actingOn(homes, locked, { ...options, isReadOnly: !isLocking });
    const act = (): Promise<Result> =>
      this.#parts.database.act(acting, async (transaction) => {
        if (mode === "thorough" && locked.length > 0) await transaction.commit(...locked.map(acceptEdits));
        const all = homes.map((home) => new DatabaseHome(transaction, home, scopes));
        await DatabaseHome.askFirst(all);
        using asked = this.#parts.holds.begin(all);
        return await work(heldHomes(this.#parts, { transaction, homes: all, onlyRead, hold: asked.hold }));
      });
    return await this.#queue.runAll(locked.map(keyOf), acting, act);
  }

  readonly homes: Engine["homes"] = async () => (await this.#parts.database.ask(nobody, listHomes())).flatMap(homeIn);
  readonly hintsOf: Engine["hintsOf"] = async (principal) => {
    const hints = sql<GrantHint>`
      SELECT g.tenant AS store, g.granted_ms::float8 AS "grantedMs", g.expires_ms::float8 AS "expiresMs",
        EXISTS (SELECT FROM memcell.left_stores l WHERE l.tenant = ${principal} AND l.store = g.tenant) AS "isLeft"
      FROM memcell.grants g WHERE g.grantee = ${principal}`;
    return (await this.#parts.database.ask(principal, hints)).toSorted(byAge);
  };
  readonly leaving: NonNullable<Engine["leaving"]> = async () => {
    const leaving = sql<{ tenant: StoreId }>`SELECT tenant FROM memcell.list_leaving()`;
    return (await this.#parts.database.ask(nobody, leaving)).map(({ tenant }) => tenant);
  };
  readonly erased: Engine["erased"] = {
    list: () => this.#parts.database.ask(nobody, listErased()),
    removeFiles: async () => [],
    forget: async ({ store, erasedMs, id }, isFinished) => {
      const { database } = this.#parts;
      await database.change(store, sql`SELECT memcell.forget_grants(${Math.trunc(erasedMs)})`);
      if (!isFinished) return;
      await database.change(store, sql`DELETE FROM memcell.erased WHERE tenant = ${store} AND id = ${id}`);
    },
  };
  readonly watch: NonNullable<Engine["watch"]> = (userId, changed) => this.#parts.news.watch(userId, changed);

  async close(): Promise<void> {
    try {
      await this.#parts.news.close();
    } finally {
      await this.#parts.database.close();
    }
  }
}

function acceptEdits(home: Home): Statement {
  const { tenant, kind } = placeOf(home);
  return sql`SELECT memcell.accept_edits(${tenant}, ${kind})`;
}

/** A user acts on the own home. The host itself acts as the owner of a home, and vouches for the stores of others. */
function actingOn(homes: readonly Home[], locked: readonly Home[], options: EngineHold): Acting {
  const { as, until, signal, isReadOnly = false } = options;
  const stores = homes.flatMap(({ kind, id }) => (kind === "store" ? id : []));
  const [user] = homes.flatMap(({ kind, id }) => (kind === "user" ? ownStoreOf(id) : []));
  const who = user ?? as?.principal ?? stores[0] ?? nobody;
  const others = stores.filter((id) => id !== who).map((id) => ({ id, level: "readwrite" as const }));
  const named = user === undefined ? "the store" : "the user's memory";
  return {
    action: `use ${named}`,
    tooLong: (waitedMs) => new ToolError("BUSY", `Cannot use ${named}: it has been in use for ${waitedMs} ms`),
    who,
    vouched: as === undefined ? others : (as.vouched ?? []),
    locks: locked.map((home) => lockOf(placeOf(home))),
    isReadOnly,
    until,
    signal,
  };
}

/** The holds in which threads can ask, by number. A thread that asks for any other gets nothing. */
export class Holds {
  readonly #homes = new Map<number, readonly DatabaseHome[]>();
  #last = 0;

  /** Until the returned object is disposed of, questions with its number are answered. */
  begin(homes: readonly DatabaseHome[]): Disposable & { readonly hold: number } {
    const hold = ++this.#last;
    this.#homes.set(hold, homes);
    return { hold, [Symbol.dispose]: () => void this.#homes.delete(hold) };
  }

  answer(question: ReadQuestion): ReturnType<FindAnswer> {
    const homes = question.hold === null ? undefined : this.#homes.get(question.hold);
    if (homes === undefined) throw new ToolError("CAPABILITY_DENIED", "Cannot read: nothing is held for this call");
    const store = storeOfScope(question.scope);
    const asked = homes.find(({ place: { kind, tenant } }) => (kind === "user" ? store === null : tenant === store));
    if (asked !== undefined) return asked.answer(question);
    throw new ToolError("CAPABILITY_DENIED", `Cannot use scope "${question.scope}": it is not held`);
  }
}

interface Hold {
  readonly transaction: Transaction;
  readonly homes: readonly DatabaseHome[];
  readonly onlyRead: readonly Home[];
  /** By which threads ask. */
  readonly hold: number;
}

/** The homes of a hold. What is changed in them is committed in one transaction, or nothing. */
function heldHomes({ news, settings }: EngineParts, { transaction, homes, onlyRead, hold }: Hold): EngineHomes {
  const at = (home: Home): DatabaseHome => {
    const found = homes.find(({ key }) => key === keyOf(home));
    if (found === undefined) throw new RangeError("The home is not held");
    return found;
  };
  const read = onlyRead.map(at).map(({ place, facts }): ReadHome => Object.assign({ version: facts.version }, place));
  return {
    isAtomic: true,
    of: (home) => engineHome(at(home)),
    get handed() {
      const handed = homes.map((home) => home.handed);
      return {
        hold,
        files: handed.flatMap(({ files }) => files),
        complete: handed.flatMap(({ complete }) => complete),
      };
    },
    areReadStill: (keeps) => areStill(transaction, read, keeps),
    commit: async (parts, done) => {
      await DatabaseHome.askFirst(parts.map(({ home }) => at(home)).filter(({ isOld }) => isOld));
      const planned: PlannedCommit[] = [];
      for (const part of parts) planned.push(await planCommit(at(part.home), settings, part));
      const statements = planned.flatMap((each) => each.statements);
      if (statements.length > 0) {
        // By a change set, a commit is found whose connection was lost; else by the records.
        const found = [...planned.map(({ ofChange }) => ofChange), ...planned.map(({ ofRecords }) => ofRecords)];
        await transaction.commitSurely(statements, found.find((each) => each !== null) ?? null);
        // Its end gives the locks away, of all homes.
        for (const home of homes) home.forget();
        for (const { home, after } of planned) home.forget(after);
      }
      for (const part of parts) {
        done(part.home);
        // Others do not ask what the host keeps.
        if (part.changes.length > 0) news.tell(at(part.home).place.tenant);
      }
    },
    load: (home, dump, grants) => loadHome(at(home), home, dump, grants),
    // The rows go at once; what is left to do is what others have of the user.
    erase: async (erasedMs) => {
      const [id, { who: store }] = [randomUUID(), transaction.acting];
      const found = sql`SELECT FROM memcell.erased WHERE tenant = ${store} AND id = ${id}`;
      await transaction.commitSurely([sql`SELECT memcell.erase(${id}, ${erasedMs})`], found);
      news.tell(store);
      return { store, erasedMs, id };
    },
  };
}

/** A home that is only read, with the version that it had then. */
type ReadHome = HomePlace & { readonly version: string };

/** Whether homes have their versions still. `keeps`: nobody changes them until the commit. */
async function areStill(transaction: Transaction, read: readonly ReadHome[], keeps: boolean): Promise<boolean> {
  if (read.length === 0 || transaction.acting.isReadOnly) return true;
  const locks = keeps ? read.map(lockOf).toSorted() : [];
  const [tenants, kinds, versions] = [column(read, "tenant"), column(read, "kind"), column(read, "version")];
  const [, changed] = await transaction.ask(
    sql`SELECT pg_advisory_xact_lock_shared(l.key) FROM unnest(${locks}::bigint[]) AS l (key)`,
    sql`SELECT FROM unnest(${tenants}::uuid[], ${kinds}::text[], ${versions}::text[]) AS r (tenant, kind, version)
      LEFT JOIN memcell.homes h ON h.tenant = r.tenant AND h.kind = r.kind
      WHERE coalesce(h.born || ':' || h.commits, '') <> r.version`,
  );
  return changed.length === 0;
}

function engineHome(home: DatabaseHome): EngineHome {
  const { transaction, place } = home;
  return {
    has: () => home.facts.version !== "",
    open: () => home,
    history: historyOf(home),
    recordSizes: async (kind) => {
      const [rows] = await transaction.ask(
        kind === "left"
          ? leftBy(place.tenant)
          : sql<{ name: string; bytes: number }>`
              SELECT name, octet_length(body) AS bytes FROM memcell.records
              WHERE tenant = ${place.tenant} AND record_kind = ${kind} ORDER BY name`,
      );
      return new Map(rows.map(({ name, bytes }) => [name, bytes]));
    },
    readRecord: async (kind, name) => {
      const [[row]] = await transaction.ask(sql<{ body: string }>`
        SELECT body FROM memcell.records WHERE tenant = ${place.tenant} AND record_kind = ${kind} AND name = ${name}`);
      return row?.body ?? null;
    },
    findings: () => findingsOf(home),
    dump: () => dumpHome(home),
  };
}
