import { requireStores } from "../require-stores.ts";
import { BaseStore } from "./langgraph.ts";
import type { Operation, OperationResults } from "./langgraph.ts";
import { runOperations, sendWith } from "./run-operations.ts";
import type { StoreRuntime } from "./run-operations.ts";
import { storeOperation } from "./store-operations.ts";
import type { StoreOperation } from "./store-operations.ts";

/**
 * Returns a LangGraph store that keeps items in the store of `ctx.userId`, out of sight of memcell's tools for models. Safe
 * for any number of calls at once.
 *
 * Pass it where the graph is run, so that each run has the store of its own user. A store that is fixed when a graph is
 * compiled, or by LangGraph Server, does not learn who runs the graph: for these, pass a function, which gets the first
 * label of each namespace and returns the context. Then every operation must name that label.
 *
 * A batch is one change set, up to 500 operations and 512 KiB; a larger one is several. With a function, a batch is one
 * change set for each user: if one fails, those before it are kept, and those after it have not been sent.
 *
 * A value is JSON with `Uint8Array`s, at most 56 levels deep; what would come back as something else is refused. A query is
 * a search by words, which returns the 50 best items at most.
 *
 * A failure is an `Error`, whose `cause` has the code of the call: `INPUT_INVALID`, `VALUE_TOO_LARGE` (100 KiB),
 * `KEY_LIMIT_REACHED` (10,000 items), `ENTRY_UNREADABLE` (a person has damaged the file of an item that is changed),
 * `WRITE_PENDING` or `WRITE_REFUSED` (by the context's origin and the policy), `QUOTA_EXCEEDED`,
 * `DEADLINE_EXCEEDED`, `CANCELLED`, or any other code of `runtime.callAsHost`. LangGraph's own `InvalidNamespaceError` has
 * no cause. Throws an `Error` at once if the plugin `stores` is not loaded.
 *
 * @example
 * await graph.invoke(input, { configurable, store: memcellStore(runtime, { userId: "alice" }) });
 *
 * @example
 * const store = memcellStore(runtime, (label) => ({ userId: label })); // namespaces such as ["alice", "memories"]
 *
 * @param ctx The context of every call, as for `runtime.call`. The user comes from your authentication.
 */
export function memcellStore<Context extends object>(
  runtime: StoreRuntime<Context>,
  ctx: Context | ((label: string) => Context),
): BaseStore {
  requireStores(runtime, "a store");
  if (typeof ctx === "function") return new MemcellStore(runtime, ctx);
  const fixed = { ...ctx };
  return new MemcellStore(runtime, fixed);
}

class MemcellStore<Context extends object> extends BaseStore {
  readonly #runtime: StoreRuntime<Context>;
  readonly #ctx: Context | ((label: string) => Context);

  constructor(runtime: StoreRuntime<Context>, ctx: Context | ((label: string) => Context)) {
    super();
    this.#runtime = runtime;
    this.#ctx = ctx;
  }

  override async batch<Operations extends Operation[]>(operations: Operations): Promise<OperationResults<Operations>> {
    const all = operations.map(storeOperation);
    const results: unknown[] = [];
    for (const [ctx, places] of this.#byUser(all)) {
      const send = sendWith(this.#runtime, ctx);
      const found = await runOperations(
        send,
        places.map((at) => all[at] as StoreOperation),
      );
      for (const [number, at] of places.entries()) results[at] = found[number];
    }
    return results as OperationResults<Operations>;
  }

  /** The places of each user's operations. Nothing has been sent if one of them names nobody. */
  #byUser(operations: readonly StoreOperation[]): Map<Context, number[]> {
    const ctx = this.#ctx;
    if (typeof ctx !== "function") return new Map([[ctx, [...operations.keys()]]]);
    const places = new Map<string, number[]>();
    for (const [at, operation] of operations.entries()) {
      const label = firstLabel(operation);
      places.set(label, [...(places.get(label) ?? []), at]);
    }
    return new Map(Array.from(places, ([label, each]) => [ctx(label), each]));
  }
}

function firstLabel({ namespace, begins }: StoreOperation): string {
  const [label] = (namespace ?? begins ?? []) as readonly unknown[];
  if (typeof label === "string" && label !== "" && label !== "*") return label;
  throw new Error("The namespace names no user; expected one that begins with the label of a user");
}
