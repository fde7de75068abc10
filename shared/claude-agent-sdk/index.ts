/** The public API of `memcell/claude-agent-sdk`. */
export { sessionStore } from "./session-store.ts";
export type { FoldSummary, SessionKey, SessionStore, SessionStoreOptions, SessionSummary } from "./session-store.ts";
