import { ToolError } from "../values/tool-error.ts";
import type { HoldOptions, Store } from "./store.ts";

/** A store that writes nothing, whatever it is asked for. What would write is `READ_ONLY`. */
export function readOnlyStore(store: Store): Store {
  const { shared } = store;
  return {
    hold: async (userId, options, work) => await store.hold(userId, readOnly(options), work),
    holdRecords: async (userId, options, work) => await store.holdRecords(userId, readOnly(options), work),
    users: () => store.users(),
    strays: () => store.strays(),
    parts: (userId) => store.parts(userId),
    isApart: (userId, scopes) => store.isApart(userId, scopes),
    shared: {
      hold: async (ids, options, work) => await shared.hold(ids, readOnly(options), work),
      ids: () => shared.ids(),
      hintsOf: (principal) => shared.hintsOf(principal),
      leave: refuse,
      forgetHints: refuse,
      owners: () => shared.owners(),
    },
    holdToErase: refuse,
    erased: { list: () => store.erased.list(), removeFiles: refuse, forget: refuse },
    retireLeftOver: async () => {
      // It is left to a runtime that may write.
    },
    watch: (userId, changed) => store.watch(userId, changed),
    close: () => store.close(),
  };
}

function readOnly<Options extends Pick<HoldOptions, "writes">>(
  options: Options,
): Options & { readonly isReadOnly: true } {
  if (options.writes) throw refused();
  return { ...options, isReadOnly: true };
}

const refuse = (): Promise<never> => Promise.reject(refused());

const refused = (): ToolError => new ToolError("READ_ONLY", "Cannot change anything: the runtime is read-only");
