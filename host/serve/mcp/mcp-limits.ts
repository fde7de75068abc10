/** The limits of an MCP server that do not concern plugins. The others are in `shared/limits.ts`. */
export const mcpLimits = {
  /** One message on standard input. The largest input of a tool, with every character escaped, takes half of it. */
  messageBytesMax: 1024 * 1024,
  /** Unanswered requests of one connection; beyond it nothing more is read. One user's calls take turns. */
  requestsInFlightMax: 32,
  /** Messages of a batch. */
  batchMax: 32,
  /** Change streams on one connection of 2026-07-28. The URIs of one stream fit into a message. */
  listensMax: 32,
  /** URIs that one connection of the 2025 revisions, or one HTTP stream, may watch. */
  subscriptionsMax: 1_024,
  /** A name of 200 code points takes up to 2,400 characters if all are percent-encoded. */
  uriCharsMax: 4_096,
  resourcesPerPage: 100,
  /** The protocol's maximum. */
  completionsMax: 100,
  /** The client's own name, as a label in the audit log. */
  clientCharsMax: 256,
  /** Logged faults of a connection over standard input and output, or of an HTTP server. */
  faultsPerMinute: 100,
  /** A fault can quote the client. */
  faultCharsMax: 200,
} as const;
