/** The checked options of `memcell serve`. The defaults are those of the settings. */
import type { OriginClass } from "../../shared/origin.ts";

/** The allowed signature algorithms of tokens. Excludes shared secrets and unsigned tokens. */
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

/** The source of the keys that verify tokens. */
export type TokenKeys =
  /** `https:`, or `http:` on a loopback address. */
  | { readonly kind: "jwks-url"; readonly url: string }
  | { readonly kind: "jwks-file"; readonly file: string }
  /** A public key, PEM (SPKI). */
  | { readonly kind: "public-key"; readonly file: string };

/** What a token must say for its requests to be allowed. */
export interface TokenScopes {
  /** The claim with the scopes: a text, separated by spaces, or an array. Default: `scope`. */
  readonly claim: string;
  /** The scope of a token that may only read. Default: `memcell:read`. */
  readonly read: string;
  /** The scope of a token that may read and write. Default: `memcell:write`. */
  readonly write: string;
  /** The scope with which a person may do on the page what only the owner may. No client needs it. Default: `memcell:owner`. */
  readonly owner: string;
}

/** What a token says about the origin of its client's calls. */
export interface TokenOrigins {
  /** The claim that names the client. Default: `client_id`. */
  readonly clientClaim: string;
  /** The class of each client, by the value of the claim. Default: none. */
  readonly ofClients: ReadonlyMap<string, OriginClass>;
  /** The claim that holds a class. `null`, the default: no claim does. */
  readonly claim: string | null;
}

export interface TokenOptions {
  /** The only accepted `iss`. */
  readonly issuer: string;
  /** What `aud` must be, or contain. A token without `aud` counts only for `clientsWithoutAudience`. */
  readonly audience: string;
  /** The clients whose tokens need no `aud`, by the claim that names the client. Default: none. */
  readonly clientsWithoutAudience: readonly string[];
  readonly keys: TokenKeys;
  /** The claim that holds the user's id. Default: `sub`. */
  readonly userClaim: string;
  /** Default: all of `tokenAlgorithms`. */
  readonly algorithms: readonly TokenAlgorithm[];
  /** How far clocks may differ, in seconds. Default: 5. */
  readonly clockToleranceS: number;
  /** The scopes that tokens need. `null`, the default: none, and every valid token may read and write. */
  readonly scopes: TokenScopes | null;
  readonly origins: TokenOrigins;
}

/** Who may use the HTTP server, and as which user. */
export type Access =
  | { readonly kind: "token"; readonly token: TokenOptions }
  /** Every client is this user. Only on a loopback address. */
  | { readonly kind: "one-user"; readonly userId: string };

/** The storage routes for agents of a platform. */
export interface StorageOptions {
  /** A file with the keys of agents that send `X-API-Key`. Default: none, and the header is refused. */
  readonly agentKeys: string | null;
  /** Whether programs get what they have set out of sight of models. Default: no. */
  readonly internalValues: boolean;
}

/** Where metrics are served. */
export interface MetricsAddress {
  readonly host: string;
  /** 0 takes a free port. */
  readonly port: number;
}

/** The page for everybody who signs in. */
export interface SignInPageOptions {
  /** The id under which the issuer knows the page. */
  readonly clientId: string;
  /** A file with the secret of that client. `null`: it has none. */
  readonly clientSecretFile: string | null;
  /** A file with the key that seals the cookies: 32 bytes, in Base64 or hexadecimal. */
  readonly keyFile: string;
}

export interface HttpServeOptions {
  readonly access: Access;
  /** The origin class of each client whose token names none. Default: `unstated`. */
  readonly originClass: OriginClass;
  /** Default: none, so the server has no such routes. */
  readonly storage: StorageOptions | null;
  /** The address to listen on. Default: 127.0.0.1. */
  readonly host: string;
  /** 0 takes a free port. Default: 7391. */
  readonly port: number;
  /** The path of MCP. Default: `/mcp`. `null`: MCP is not served. */
  readonly path: string | null;
  /** The page for the person whose memory it is. Default: none. */
  readonly page: SignInPageOptions | null;
  /** Allowed names in a `Host` header, without ports, besides the loopback names of a server that listens there. */
  readonly allowedHosts: readonly string[];
  /** Allowed origins of browser pages (`https://app.example`). Default: none. */
  readonly allowedOrigins: readonly string[];
  /** The URL that clients use, for the metadata that says where to get a token. Default: none. */
  readonly publicUrl: string | null;
  /** For one request. Default: 1 MiB. */
  readonly bodyBytesMax: number;
  /** For one user. Default: 600. */
  readonly requestsPerMinute: number;
  /** The maximum of open streams of one user. Default: 32. */
  readonly streamsPerUserMax: number;
  /** How long requests may continue when the server closes. Default: 10,000. */
  readonly closeGraceMs: number;
}
