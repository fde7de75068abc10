/** The public API of `memcell/openai-agents`. */
export { memcellSession } from "./memcell-session.ts";
export type { MemcellSession, TransactionArgs } from "./memcell-session.ts";
