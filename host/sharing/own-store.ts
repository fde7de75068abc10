/**
 * A user's own store as one of the user's scopes, for the owner of the data: the doctor, the trash, export and import
 * work on it as on any other scope. Its name there is `store`.
 */
import { ownStoreName, scopeOfStore } from "../../shared/shared-scope.ts";
import { entriesScope } from "../store/shared-stores.ts";
import type { HeldStores, StoreHoldOptions } from "../store/shared-stores.ts";
import type { HeldReader, HeldUser, HoldOptions, KnownSizes, Store, StoreFinding, StorePart } from "../store/store.ts";
import type { HeldHistory } from "../store/versions/held-history.ts";
import { renamedHistory } from "../store/versions/renamed-history.ts";
import type { ChangeSet, Seen } from "../values/change-set.ts";
import { ownStoreOf } from "../values/store-id.ts";
import type { StoreId } from "../values/store-id.ts";
import type { UserId } from "../values/user-id.ts";
import { LeftOverErasures } from "./finish-erased.ts";

/** A store whose users have their own store as a part of its own. */
export function withOwnStores(store: Store): Store {
  const leftOver = new LeftOverErasures(store);
  return {
    hold: (userId, options, work) => {
      if (!isOwnStore(options)) return store.hold(userId, options, work);
      const own = ownStoreOf(userId);
      const recordsOf = options.records === true ? userId : undefined;
      return store.shared.hold([own], { ...withoutScopes(options), recordsOf }, (held) =>
        work(heldAsUser(held, userId, own)),
      );
    },
    holdRecords: (userId, options, work) => store.holdRecords(userId, options, work),
    users: async () => [...new Set([...(await store.users()), ...(await store.shared.owners())])],
    strays: () => store.strays(),
    parts: async (userId: UserId): Promise<readonly StorePart[]> => [
      ...(await store.parts(userId)),
      { scopes: [ownStoreName] },
    ],
    isApart: (userId, scopes) => store.isApart(userId, scopes),
    shared: store.shared,
    holdToErase: (userId, options, work) => store.holdToErase(userId, options, work),
    get erased() {
      return store.erased;
    },
    retireLeftOver: async () => {
      await Promise.all([store.retireLeftOver(), leftOver.finish()]);
    },
    watch: (userId, changed) => store.watch(userId, changed),
    close: async () => {
      await leftOver.close();
      await store.close();
    },
  };
}

const isOwnStore = ({ scopes }: HoldOptions): boolean => scopes?.includes(ownStoreName) ?? false;

function withoutScopes(options: HoldOptions): StoreHoldOptions {
  const { scopes: _scopes, records: _records, ...others } = options;
  return others;
}

function heldAsUser(held: HeldStores, userId: UserId, own: StoreId): HeldUser {
  return {
    reader: ownReader(held, own),
    knownSizes: renamed(held.knownSizes, scopeOfStore(own), ownStoreName),
    handed: null,
    history: ownHistory(held, own),
    stores: held,
    commit: (changes, seen, { knownSizes, facts, kind, derived, decision } = {}) =>
      held.commit(own, {
        by: userId,
        changes: inStore(changes, own),
        seen: inStore(seen, own),
        facts,
        kind,
        decision,
        derived: derived?.get(ownStoreName),
        ...(knownSizes && { knownSizes: renamed(knownSizes, ownStoreName, scopeOfStore(own)) }),
      }),
    findings: async () => (await held.findings(own)).map((each) => ofStore(each, own)),
  };
}

/** A finding in the own store. What lies beside the entries has its path in the data folder: it is in no scope. */
function ofStore(finding: StoreFinding, own: StoreId): StoreFinding {
  const [folder, ...below] = finding.path.split("/");
  const path = folder === entriesScope ? [ownStoreName, ...below].join("/") : `stores/${own}/${finding.path}`;
  return { ...finding, path };
}

/** The history of the own store under the name `store`. */
export const ownHistory = (held: HeldStores, own: StoreId): HeldHistory =>
  renamedHistory(held.history(own), entriesScope, ownStoreName);

/** Reads the entries of the own store under the name `store`. */
export function ownReader(held: HeldStores, own: StoreId): HeldReader {
  const reader = held.reader(own);
  return {
    scopes: async () => (held.has(own) ? [ownStoreName] : []),
    // In no scope, so with its path in the data folder.
    beside: async () => (await reader.beside()).map(({ path, reason }) => ({ path: `stores/${own}/${path}`, reason })),
    list: (_scope, prefix) => reader.list(entriesScope, prefix),
    listTrash: () => reader.listTrash(entriesScope),
    survey: () => reader.survey(entriesScope),
    scopeSize: () => reader.scopeSize(entriesScope),
    bytesOf: (_scope, path) => reader.bytesOf(entriesScope, path),
    get seen() {
      return held.seen;
    },
  };
}

/** Names the own store by its id, as calls do. */
export function inStore<Placed extends ChangeSet[number] | Seen>(placed: readonly Placed[], own: StoreId): Placed[] {
  const scope = scopeOfStore(own);
  return placed.map((each) => (each.scope === ownStoreName ? { ...each, scope } : each));
}

const renamed = (bytes: KnownSizes, from: string, to: string): KnownSizes =>
  Object.fromEntries(Object.entries(bytes).map(([scope, used]) => [scope === from ? to : scope, used]));
