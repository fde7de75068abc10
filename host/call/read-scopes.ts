/** The scopes that a call's guest can read, of a user or of shared stores. */
import { entriesScope } from "../store/shared-stores.ts";
import type { HeldStores } from "../store/shared-stores.ts";
import type { HeldUser } from "../store/store.ts";
import type { DecidedStores } from "../values/decided-stores.ts";
import { scopeOfStore } from "../values/store-id.ts";
import { ReadScope } from "./read-scope.ts";

export const scopesOfUser = ({ history, reader }: HeldUser, scopes: readonly string[]): ReadScope[] =>
  scopes.map((scope) => new ReadScope({ scope, inner: scope, history, reader, owner: "" }));

/** Those that the caller reaches. */
export const scopesOfStores = (held: HeldStores, { own, stores }: DecidedStores): ReadScope[] =>
  stores
    .filter(({ level }) => level !== null)
    .map(({ id }) => {
      const owner = id === own ? "" : `${id}/`;
      const [history, reader] = [held.history(id), held.reader(id)];
      return new ReadScope({ scope: scopeOfStore(id), inner: entriesScope, history, reader, owner });
    });
