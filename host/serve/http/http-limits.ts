/** Bounds of the HTTP server that nobody sets, each with its reason. */
const kib = 1024;

export const httpLimits = {
  /** Request line and headers. Node's own; a token takes up to half of it. */
  headerBytesMax: 16 * kib,
  /** A token with a dozen claims and the longest signature takes 1.5 KiB. */
  tokenCharsMax: 8 * kib,
  /** Half of the 4,096 descriptors that a process may have where nobody says otherwise. */
  connectionsMax: 2_048,
  /** Requests of one connection that have no answer yet. Clients send one after the other. */
  pipelinedMax: 16,
  /** For the headers, and for the whole request. Who sends slower holds a connection for nothing. */
  headersMs: 10_000,
  requestMs: 30_000,
  /** How long a connection is kept for the next request. Above the 4 s after which common clients drop theirs. */
  keepAliveMs: 5_000,
  /** How long a client may take to read an answer that is no stream. */
  answerMs: 60_000,
  /** For what streams are told last when the server ends. */
  lastWordsMs: 1_000,
  /** What lies unread of a stream before it is cut: a thousand notifications. */
  streamBytesMax: 256 * kib,
  /** Sessions of all users: 11 KiB each where the handshake is small, 40 KiB with its user's endpoint and feed. */
  sessionsMax: 10_000,
  /** A handshake says what a client is called and can. It is kept with its session. */
  handshakeCharsMax: 16 * kib,
  /** Requests of one user under way: as many as may wait, and as many again that only read. */
  requestsPerUserMax: 256,
  /** As the answer of a tool. */
  bodyDepthMax: 64,
  /** Values in one body, `[]` counted twice. One takes two bytes to send, a hundred to keep, and everybody's time to read. */
  bodyValuesMax: 8_192,
  /** Bodies of one user under way, together: 128 of the largest entries, or 16 of the largest bodies. */
  bodyBytesPerUserMax: 16 * kib * kib,
  /** What a stream of changes names, which is kept as long as the stream: 1,000 URIs of 384 characters. */
  listenBytesMax: 384 * kib,
  /** The id of a JSON-RPC request, which is kept until it is answered. As the caller's name for a call. */
  requestIdCharsMax: 128,
  /** Tokens in a minute from one address that turn out to be no good. Behind a proxy, many clients share one. */
  badTokensPerMinute: 300,
  /** Addresses and users that are counted, and tokens that are remembered to have been good: 10 MB together. */
  countedMax: 20_000,
  /** A set of a hundred RSA keys takes 80 KiB. */
  keyFileBytesMax: 256 * kib,
  /** Keys of a set. */
  keysMax: 128,
  /** How long a key set's server may take. */
  keysMs: 5_000,
  /** After a failure or a key that is not there: how long nobody asks it again. */
  keysCooldownMs: 5_000,
  /** How long a key set counts before it is asked for again. */
  keysAgeMs: 600_000,
} as const;
