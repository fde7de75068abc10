/** What `memcell serve` is told, checked, as the servers take it. Each default is that of the setting. */

/** The signature algorithms a token may have. No secret is shared with whoever issues tokens, and none is unsigned. */
export const tokenAlgorithms = [
  "RS256",
  "RS384",
  "RS512",
  "PS256",
  "PS384",
  "PS512",
  "ES256",
  "ES384",
  "ES512",
  "EdDSA",
] as const;
export type TokenAlgorithm = (typeof tokenAlgorithms)[number];

/** Where the keys come from that tokens are verified with. */
export type TokenKeys =
  /** `https:`, or `http:` on a loopback address. */
  | { readonly kind: "jwks-url"; readonly url: string }
  | { readonly kind: "jwks-file"; readonly file: string }
  /** A public key, PEM (SPKI). */
  | { readonly kind: "public-key"; readonly file: string };

export interface TokenOptions {
  /** The one `iss` that is accepted. */
  readonly issuer: string;
  /** The one `aud` that is accepted. */
  readonly audience: string;
  readonly keys: TokenKeys;
  /** The claim that holds the user's id. Default: `sub`. */
  readonly userClaim: string;
  /** Default: all of `tokenAlgorithms`. */
  readonly algorithms: readonly TokenAlgorithm[];
  /** How far clocks may differ, in seconds. Default: 5. */
  readonly clockToleranceS: number;
}

/** Who may ask over HTTP, and for whom. */
export type Access =
  | { readonly kind: "token"; readonly token: TokenOptions }
  /** Whoever reaches the port is this user: only on a loopback address. */
  | { readonly kind: "one-user"; readonly userId: string };

export interface HttpServeOptions {
  readonly access: Access;
  /** The address to listen on. Default: 127.0.0.1. */
  readonly host: string;
  /** 0 takes a free one. Default: 7391. */
  readonly port: number;
  /** Where MCP is spoken. Default: `/mcp`. */
  readonly path: string;
  /** Names that a `Host` header may have besides those of the loopback addresses when it listens there; no ports. */
  readonly allowedHosts: readonly string[];
  /** Origins (`https://app.example`) that a browser's page may have. Default: none. */
  readonly allowedOrigins: readonly string[];
  /** The URL by which clients reach it, for the metadata that tells them where to get a token. Default: none. */
  readonly publicUrl: string | null;
  /** Of one request. Default: 1 MiB. */
  readonly bodyBytesMax: number;
  /** Of one user. Default: 600. */
  readonly requestsPerMinute: number;
  /** Sessions and streams of one user that are open at once. Default: 32. */
  readonly sessionsPerUserMax: number;
  /** How long a session may be unused. Default: 30 minutes. */
  readonly sessionIdleMs: number;
  /** How long requests may go on when the server closes. Default: 10,000. */
  readonly closeGraceMs: number;
}
