/** The public API of `memcell/langgraph`. */
export { memcellStore } from "./memcell-store.ts";
export type { StoreRuntime } from "./run-operations.ts";
