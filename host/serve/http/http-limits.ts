/** Fixed bounds of the HTTP server, each with its reason. */
const kib = 1024;

export const httpLimits = {
  /** Request line and headers. Node's default; a token takes up to half of it. */
  headerBytesMax: 16 * kib,
  /** A token with a dozen claims and the longest signature takes 1.5 KiB. */
  tokenCharsMax: 8 * kib,
  /** Half of the 4,096 descriptors that a process can have by default. */
  connectionsMax: 2_048,
  /** Unanswered requests of one connection. Clients send one after the other. */
  pipelinedMax: 16,
  /** The time for the headers, and for the whole request. Slower clients only occupy connections. */
  headersMs: 10_000,
  requestMs: 30_000,
  /** How long a connection is kept for the next request. More than the 4 s after which common clients drop theirs. */
  keepAliveMs: 5_000,
  /** How long a client may take to read an answer that is not a stream. */
  answerMs: 60_000,
  /** The time to send the last events of streams when the server closes. */
  lastWordsMs: 1_000,
  /** Unread bytes of a stream before it is cut: a thousand notifications. */
  streamBytesMax: 256 * kib,
  /** Concurrent requests of one user: as many as the queue of calls takes, and as many again that only read. */
  requestsPerUserMax: 256,
  /** The same as for a tool's answer. */
  bodyDepthMax: 64,
  /** Values in one body; `[]` counts as two. A value takes two bytes to send, a hundred in memory, and parsing time. */
  bodyValuesMax: 8_192,
  /** The bodies of one user's concurrent requests together: 128 of the largest entries, or 16 of the largest bodies. */
  bodyBytesPerUserMax: 16 * kib * kib,
  /** The request of a change stream, which is kept as long as the stream: 1,000 URIs of 384 characters. */
  listenBytesMax: 384 * kib,
  /** The id of a JSON-RPC request, which is kept until the answer. The same as for a call id. */
  requestIdCharsMax: 128,
  /** Invalid tokens per minute from one address. Many clients behind a proxy share an address. */
  badTokensPerMinute: 300,
  /** Counted addresses, counted users, and known valid tokens: 10 MB together. */
  countedMax: 20_000,
  /** A set of a hundred RSA keys takes 80 KiB. */
  keyFileBytesMax: 256 * kib,
  /** Keys of a set. */
  keysMax: 128,
  /** Keys of agents, each compared with every request that has one. */
  agentKeysMax: 1_000,
  /** The timeout for fetching a key set. */
  keysMs: 5_000,
  /** After a failure or an unknown key: how long the key set is not fetched again. */
  keysCooldownMs: 5_000,
  /** How long a key set is used before it is fetched again. */
  keysAgeMs: 600_000,
} as const;
