/** What an MCP server takes and gives: as `shared/limits.ts`, for what no plugin sees. */
export const mcpLimits = {
  /** One message on standard input. The largest input of a tool, all of it escapes, takes half of it. */
  messageBytesMax: 1024 * 1024,
  /** Requests of one connection that have no answer yet; beyond it nothing more is read. One user's calls take turns. */
  requestsInFlightMax: 32,
  /** Streams of changes on one connection of 2026-07-28. What one of them watches fits into a message. */
  listensMax: 32,
  /** URIs that one connection of the 2025 revisions, or one stream over HTTP, may watch. The list tells of all others. */
  subscriptionsMax: 1_024,
  /** A name of 200 code points takes up to 2,400, all of them percent-encoded. */
  uriCharsMax: 4_096,
  resourcesPerPage: 100,
  /** As many as the protocol allows. */
  completionsMax: 100,
  /** What a client calls itself, as a label in the audit log. */
  clientCharsMax: 256,
  /** Faults of one connection that the operator is told of; over HTTP, of a minute. */
  faultsToldMax: 100,
} as const;
