import { UserQueue } from "../../values/slots.ts";
import { ownStoreOf, scopeOfStore, storeOfScope } from "../../values/store-id.ts";
import type { StoreId } from "../../values/store-id.ts";
import { ToolError } from "../../values/tool-error.ts";
import type { UserId } from "../../values/user-id.ts";
import { byAge } from "../grant-hints.ts";
import type { GrantHint } from "../grant-hints.ts";
import { HeldStoreSet } from "../held-stores.ts";
import { untilFresh } from "../plan-changes.ts";
import { entriesScope, grantsScope } from "../shared-stores.ts";
import type { ActingPrincipal, HeldStores, SharedStores, StoreHoldOptions } from "../shared-stores.ts";
import { nobody } from "./acting.ts";
import type { Acting } from "./acting.ts";
import { answerIn } from "./answer-in.ts";
import { HeldDatabaseHistory } from "./held-database-history.ts";
import { HeldHome } from "./held-home.ts";
import { homeFindings } from "./home-findings.ts";
import { lockOf, placeOfUser } from "./home-place.ts";
import type { PostgresParts } from "./postgres-parts.ts";
import { acceptEdits, comeBack, forgetGrants, homeVersion, leaveStore, listHints, listHomes } from "./statements.ts";
import type { Row } from "./statements.ts";
import { commitStores } from "./store-commit.ts";
import type { Transaction } from "./transaction.ts";

type Work<Result> = (held: HeldStores) => Promise<Result>;

export class PostgresSharedStores implements SharedStores {
  readonly #parts: PostgresParts;
  readonly #queue = new UserQueue();

  constructor(parts: PostgresParts) {
    this.#parts = parts;
  }

  async hold<Result>(ids: readonly StoreId[], options: StoreHoldOptions, work: Work<Result>): Promise<Result> {
    const sorted = [...new Set([...ids, ...(options.onlyRead ?? [])])].toSorted();
    const { writes, isLookingOnly = false, isReadOnly = false, onlyRead = [], recordsOf, until, signal } = options;
    const isLocking = writes && !isLookingOnly && !isReadOnly;
    const locked = isLocking ? sorted.filter((id) => !onlyRead.includes(id)) : [];
    const { principal, vouched = [] } = options.as ?? asHost(sorted);
    const acting: Acting = {
      who: principal,
      vouched,
      locks: [
        ...(isLocking && recordsOf !== undefined ? [lockOf(placeOfUser(recordsOf))] : []),
        ...locked.map((tenant) => lockOf({ tenant, kind: "store" })),
      ],
      isReadOnly: !isLocking,
      until,
      signal,
    };
    const run = (): Promise<Result> =>
      this.#parts.database.act(acting, naming, (transaction) => this.run(transaction, sorted, options, work));
    const patience = { until, signal, tooLong: naming.tooLong };
    return await untilFresh(options, () => this.#queue.runAll(locked, patience, run));
  }

  /** Works on stores in a transaction that has begun for whoever holds them. */
  async run<Result>(
    transaction: Transaction,
    ids: readonly StoreId[],
    options: StoreHoldOptions,
    work: Work<Result>,
  ): Promise<Result> {
    const { holds, settings, news } = this.#parts;
    const homes = new Map(ids.map((tenant) => [tenant, homeIn(transaction, tenant)]));
    if (options.isThorough && !transaction.isReadOnly) {
      await transaction.commit(...Array.from(homes.values(), ({ place }) => acceptEdits(place)));
    }
    const rows = await transaction.ask(...Array.from(homes.values()).flatMap((home) => home.first));
    for (const [at, home] of Array.from(homes.values()).entries()) home.take(rows.slice(2 * at, 2 * at + 2));
    const homeOf = (id: StoreId): HeldHome => homes.get(id) ?? homeIn(transaction, id);
    using asked = holds.begin((question) => {
      const id = storeOfScope(question.scope);
      return answerIn(homeOf(id !== null && homes.has(id) ? id : noStore(question.scope)), {
        ...question,
        scope: entriesScope,
      });
    });
    const onlyRead = new Map((options.onlyRead ?? []).map((id) => [id, homeOf(id).facts.version]));
    using held = new HeldStoreSet(ids, options, {
      open: homeOf,
      history: (id) => new HeldDatabaseHistory(homeOf(id)),
      has: (id) => homeOf(id).facts.commits > 0,
      findings: (id) => homeFindings(homeOf(id)),
      knownSizes: {},
      handed: { hold: asked.hold, ...handedOf(homes) },
      areReadStill: () => areStill(transaction, onlyRead),
      commit: async (parts, done) => {
        await commitStores(transaction, { homeOf, onlyRead, settings, news, done }, parts);
        for (const home of homes.values()) home.forget();
        // What was only read decides about the first commit alone: work is not repeated after it.
        onlyRead.clear();
      },
    });
    return await held.run(work);
  }

  async ids(): Promise<StoreId[]> {
    return (await this.#list()).map(({ tenant }) => tenant as StoreId);
  }

  async owners(): Promise<UserId[]> {
    return (await this.#list()).flatMap(({ tenant, user_id: userId }) => {
      const byItsId = tenant as UserId;
      if (ownStoreOf(byItsId) === (tenant as StoreId)) return [byItsId];
      return userId === null ? [] : [userId as UserId];
    });
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

  #list(): Promise<Row[]> {
    return this.#parts.database.ask(nobody, listHomes("store"));
  }
}

interface HintRow {
  readonly store: StoreId;
  readonly granted_ms: number;
  readonly expires_ms: number | null;
  readonly is_left: boolean;
}

const homeIn = (transaction: Transaction, tenant: StoreId): HeldHome =>
  new HeldHome(transaction, { tenant, kind: "store" }, [entriesScope, grantsScope]);

/** The host acts as the owner of the store that it holds. Of several, it vouches for the others. */
function asHost([first, ...others]: readonly StoreId[]): ActingPrincipal {
  return { principal: first ?? nobody, vouched: others.map((id) => ({ id, level: "readwrite" })) };
}

async function areStill(transaction: Transaction, onlyRead: ReadonlyMap<StoreId, string>): Promise<boolean> {
  if (onlyRead.size === 0 || transaction.isReadOnly) return true;
  const found = await transaction.ask(
    ...Array.from(onlyRead.keys(), (tenant) => homeVersion({ tenant, kind: "store" })),
  );
  return Array.from(onlyRead.values()).every((before, at) => String(found[at]?.[0]?.["version"] ?? "") === before);
}

/** A thread gets entries, and no grants. */
function handedOf(homes: ReadonlyMap<StoreId, HeldHome>): ReturnType<HeldHome["handed"]> {
  const handed = Array.from(homes, ([id, home]) =>
    home.handed((scope) => (scope === entriesScope ? scopeOfStore(id) : null)),
  );
  return {
    files: handed.flatMap(({ files }) => files),
    complete: handed.flatMap(({ complete }) => complete),
  };
}

function noStore(scope: string): never {
  throw new ToolError("CAPABILITY_DENIED", `Cannot use scope "${scope}": it is not held`);
}

const naming = {
  action: "use the store",
  tooLong: (waitedMs: number): ToolError =>
    new ToolError("BUSY", `Cannot use the store: it has been in use for ${waitedMs} ms`),
};
