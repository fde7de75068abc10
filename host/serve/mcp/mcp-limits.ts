/** What an MCP server takes and gives: as `shared/limits.ts`, for what no plugin sees. */
export const mcpLimits = {
  /** One message on standard input. The largest input of a tool, all of it escapes, takes half of it. */
  messageBytesMax: 1024 * 1024,
  /** Requests of one connection that have no answer yet; beyond it nothing more is read. One user's calls take turns. */
  requestsInFlightMax: 32,
  /** Streams of changes on one connection of 2026-07-28. What one of them watches fits into a message. */
  listensMax: 32,
  /** URIs that one connection of the 2025 revisions, or one stream over HTTP, may watch: 1,000 entries and the index. */
  subscriptionsMax: 1_024,
  /** The longest URI of an entry, all of its 100 characters percent-encoded, takes 315. */
  uriCharsMax: 512,
  resourcesPerPage: 100,
  /** As many as the protocol allows. */
  completionsMax: 100,
  /** What a client calls itself, as a label in the audit log. */
  clientCharsMax: 256,
  /** Faults of one connection that the operator is told of; over HTTP, of a minute. */
  faultsToldMax: 100,
} as const;
