/** Keeps homes in a PostgreSQL database that several hosts can share. */
import { randomUUID } from "node:crypto";

import { UserQueue } from "../../values/slots.ts";
import { ownStoreOf, storeOfScope } from "../../values/store-id.ts";
import type { StoreId } from "../../values/store-id.ts";
import { ToolError } from "../../values/tool-error.ts";
import type { UserId } from "../../values/user-id.ts";
import type {
  Engine,
  EngineCommit,
  EngineHold,
  EngineHome,
  EngineHomes,
  ErasableContent,
  ErasedUser,
  ErasedUsers,
  FoundHome,
} from "../engine.ts";
import { byAge } from "../grant-hints.ts";
import type { GrantHint } from "../grant-hints.ts";
import type { HandedFiles } from "../handed.ts";
import { commits, hostScope, keyOf } from "../home.ts";
import type { ActingPrincipal, Home, Mode } from "../home.ts";
import { sumOf } from "../scope-size.ts";
import type { StoreSettings } from "../store-settings.ts";
import type { ChangeNews } from "./change-news.ts";
import { areStill, commitHomes } from "./commit-homes.ts";
import type { ReadVersions } from "./commit-homes.ts";
import { commitSurely } from "./commit-surely.ts";
import { DatabaseHistory, homeFindings } from "./database-history.ts";
import { DatabaseHome } from "./database-home.ts";
import type { Database } from "./database.ts";
import type { Holds } from "./holds.ts";
import { lockOf, placeOf } from "./home-place.ts";
import {
  acceptEdits,
  comeBack,
  erase,
  forgetErased,
  forgetGrants,
  homeIn,
  isErased,
  leaveStore,
  listErased,
  listHints,
  listHomes,
  nameRecords,
  nobody,
  readRecord,
} from "./statements.ts";
import type { Transaction } from "./transaction.ts";

interface EngineParts {
  readonly database: Database;
  readonly holds: Holds;
  readonly news: ChangeNews;
  readonly settings: StoreSettings;
}

export class PostgresEngine implements Engine {
  readonly mounts = [];
  readonly erased: ErasedUsers;
  readonly #parts: EngineParts;
  /** So that of this host, only one call of a home waits in the database. */
  readonly #queue = new UserQueue();

  constructor(parts: EngineParts) {
    this.#parts = parts;
    this.erased = erasedIn(parts.database);
  }

  async hold<Result>(
    homes: readonly Home[],
    mode: Mode,
    options: EngineHold,
    work: (held: EngineHomes) => Promise<Result>,
  ): Promise<Result> {
    const { onlyRead = [], until, signal, isReadOnly = false } = options;
    const isLocking = !isReadOnly && (commits(mode) || mode === "erase");
    const unlocked = new Set(onlyRead.map(keyOf));
    const locked = isLocking ? homes.filter((home) => !unlocked.has(keyOf(home))) : [];
    const locks = locked.map((home) => lockOf(placeOf(home)));
    const acting = { ...actorOn(homes, options.as), locks, isReadOnly: !isLocking, until, signal };
    const naming = homes.some(({ kind }) => kind === "user") ? namingUser : namingStores;
    const act = (): Promise<Result> =>
      this.#parts.database.act(acting, naming, async (transaction) => {
        if (mode === "thorough" && locked.length > 0) {
          await transaction.commit(...locked.map((home) => acceptEdits(placeOf(home))));
        }
        const scopes = options.scopes ?? null;
        const all = new Map(homes.map((home) => [keyOf(home), new DatabaseHome(transaction, placeOf(home), scopes)]));
        await DatabaseHome.askFirst(all.values());
        using asked = this.#parts.holds.begin((question) => homeAsked(all, question.scope).answer(question));
        return await work(
          new DatabaseHomes(this.#parts, { transaction, all, onlyRead, who: acting.who, hold: asked.hold }),
        );
      });
    return await this.#queue.runAll(locked.map(keyOf), { until, signal, tooLong: naming.tooLong }, act);
  }

  async homes(): Promise<FoundHome[]> {
    return (await this.#parts.database.ask(nobody, listHomes())).flatMap(homeIn);
  }

  async strays(): Promise<[]> {
    return [];
  }

  async hintsOf(principal: StoreId): Promise<GrantHint[]> {
    const rows = await this.#parts.database.ask(principal, listHints(principal));
    const hints = rows.map((row): GrantHint => {
      const { store, granted_ms: grantedMs, expires_ms: expiresMs, is_left: isLeft } = row as unknown as HintRow;
      return { store, grantedMs, expiresMs, isLeft };
    });
    return hints.toSorted(byAge);
  }

  async leave(principal: StoreId, store: StoreId, isLeft: boolean): Promise<boolean> {
    const statement = isLeft ? leaveStore(principal, store) : comeBack(principal, store);
    return (await this.#parts.database.change(principal, statement)).length > 0;
  }

  async forgetHints(principal: StoreId, untilMs: number): Promise<void> {
    await this.#parts.database.change(principal, forgetGrants(untilMs));
  }

  async retireLeftOver(): Promise<void> {
    // A host that ends leaves nothing: the database takes back what it has not committed.
  }

  watch(userId: UserId, changed: () => void): () => void {
    return this.#parts.news.watch(userId, changed);
  }

  async close(): Promise<void> {
    try {
      await this.#parts.news.close();
    } finally {
      await this.#parts.database.close();
    }
  }
}

interface HintRow {
  readonly store: StoreId;
  readonly granted_ms: number;
  readonly expires_ms: number | null;
  readonly is_left: boolean;
}

/** A user acts on the own home. The host itself acts as the owner of a home, and vouches for the stores of others. */
function actorOn(homes: readonly Home[], as?: ActingPrincipal) {
  const stores = homes.flatMap(({ kind, id }) => (kind === "store" ? id : []));
  const [user] = homes.flatMap(({ kind, id }) => (kind === "user" ? ownStoreOf(id) : []));
  const who = user ?? as?.principal ?? stores[0] ?? nobody;
  const others = stores.filter((id) => id !== who).map((id) => ({ id, level: "readwrite" as const }));
  return { who, vouched: as === undefined ? others : (as.vouched ?? []) };
}

interface Hold {
  readonly transaction: Transaction;
  readonly all: ReadonlyMap<string, DatabaseHome>;
  readonly onlyRead: readonly Home[];
  readonly who: StoreId;
  readonly hold: number;
}

class DatabaseHomes implements EngineHomes {
  readonly isAtomic = true;
  readonly #parts: EngineParts;
  readonly #hold: Hold;
  #onlyRead: ReadVersions;

  constructor(parts: EngineParts, hold: Hold) {
    this.#parts = parts;
    this.#hold = hold;
    const onlyRead = hold.onlyRead.map((each) => this.#at(each));
    this.#onlyRead = new Map(onlyRead.map(({ place, facts }) => [place, facts.version]));
  }

  of(home: Home): EngineHome {
    return engineHome(this.#at(home));
  }

  get handed(): HandedFiles {
    const handed = Array.from(this.#hold.all.values(), (home) => home.handed);
    const [files, complete] = [handed.flatMap((each) => each.files), handed.flatMap((each) => each.complete)];
    return { hold: this.#hold.hold, files, complete };
  }

  areReadStill(): Promise<boolean> {
    return areStill(this.#hold.transaction, this.#onlyRead);
  }

  async commit(parts: readonly EngineCommit[], done: (home: Home) => void): Promise<void> {
    const { transaction, all } = this.#hold;
    const held = { transaction, homeOf: (home: Home) => this.#at(home), onlyRead: this.#onlyRead };
    const isMade = await commitHomes({ ...held, settings: this.#parts.settings }, parts);
    // What was only read decides about the first commit of files alone: work is not repeated after it.
    if (parts.some(isOfFiles)) this.#onlyRead = new Map();
    if (isMade) for (const home of all.values()) home.forget();
    for (const part of parts) {
      done(part.home);
      // Others do not ask what the host keeps.
      if (isOfFiles(part)) this.#parts.news.tell(placeOf(part.home).tenant);
    }
  }

  /** The rows go at once; what is left to do is what others have of the user. */
  async erase(erasedMs: number): Promise<ErasedUser> {
    const { transaction, who } = this.#hold;
    const erased = { store: who, erasedMs, id: randomUUID() };
    await commitSurely(transaction, [erase(erased.id, erasedMs)], isErased(who, erased.id));
    this.#parts.news.tell(who);
    return erased;
  }

  #at(home: Home): DatabaseHome {
    const found = this.#hold.all.get(keyOf(home));
    if (found === undefined) throw new RangeError("The home is not held");
    return found;
  }
}

const isOfFiles = ({ changes }: EngineCommit): boolean => changes.some(({ scope }) => scope !== hostScope);

function engineHome(home: DatabaseHome): EngineHome {
  const { transaction, place } = home;
  return {
    has: () => home.facts.version !== "",
    open: () => home,
    history: new DatabaseHistory(home),
    knownSizes: {},
    records: {
      sizes: async (kind) => {
        const [rows = []] = await transaction.ask(nameRecords(place.tenant, kind));
        return new Map(rows.map(({ name, bytes }) => [String(name), Number(bytes)]));
      },
      read: async (kind, name) => {
        const [[row] = []] = await transaction.ask(readRecord(place.tenant, kind, name));
        return row === undefined ? null : String(row["body"]);
      },
    },
    findings: () => homeFindings(home),
    contents: async () => {
      const contents: ErasableContent[] = [];
      for (const scope of home.scopes()) {
        const { live, trash } = await home.scopeSize(scope);
        contents.push({ scope, ...sumOf(live, trash), closed: [] });
      }
      return contents;
    },
  };
}

/** The home in which a thread's scope is. */
function homeAsked(all: ReadonlyMap<string, DatabaseHome>, scope: string): DatabaseHome {
  const store = storeOfScope(scope);
  for (const home of all.values()) {
    const { kind, tenant } = home.place;
    if (store === null ? kind === "user" : kind === "store" && tenant === store) return home;
  }
  throw new ToolError("CAPABILITY_DENIED", `Cannot use scope "${scope}": it is not held`);
}

const erasedIn = (database: Database): ErasedUsers => ({
  list: async () => {
    const rows = await database.ask(nobody, listErased());
    return rows.map(({ tenant, erased_ms: erasedMs, id }) => ({
      store: tenant as StoreId,
      erasedMs: Number(erasedMs),
      id: String(id),
    }));
  },
  removeFiles: async () => [],
  forget: async ({ store, id }) => void (await database.change(store, forgetErased(store, id))),
});

const namingOf = (named: string) => ({
  action: `use ${named}`,
  tooLong: (waitedMs: number): ToolError =>
    new ToolError("BUSY", `Cannot use ${named}: it has been in use for ${waitedMs} ms`),
});

const namingUser = namingOf("the user's memory");
const namingStores = namingOf("the store");
