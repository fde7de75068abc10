/** Checks 5 and 6: who asks. Nothing but a verified token, or the settings of a server for one user, ever names a user. */
import { createHash } from "node:crypto";

import { checkUserId } from "../../values/user-id.ts";
import { isLoopback } from "../loopback.ts";
import type { HttpServeOptions, TokenOptions } from "../serve-options.ts";
import { httpLimits } from "./http-limits.ts";
import { peerKey } from "./peer.ts";
import { RateLimit, putLast } from "./rate-limit.ts";
import { RefusedRequest } from "./refusals.ts";
import { openTokenKeys } from "./token-keys.ts";
import type { VerifyingKeys } from "./token-keys.ts";
import { bearerToken, verifyToken } from "./verify-token.ts";
import type { Identity } from "./verify-token.ts";

export interface Admission {
  /** Throws a reason that begins with `token-`, `peer-limited` or `keys-unavailable`. */
  identify(authorization: string | undefined, peer: string | undefined): Promise<Identity>;
  /** Whether anybody could be admitted. Asks for the keys again when there have never been any. */
  isReady(): Promise<boolean>;
}

/** Rejects with a `RangeError` for keys that cannot be used, and for one user who could be reached from elsewhere. */
export async function openAdmission(options: HttpServeOptions, metadataUrl: string | null): Promise<Admission> {
  const { access, host } = options;
  if (access.kind === "token") {
    return new TokenAdmission(access.token, await openTokenKeys(access.token), metadataUrl);
  }
  if (!isLoopback(host)) {
    throw new RangeError(
      `Cannot serve one user on ${host}: allowed are loopback addresses (127.0.0.0/8, ::1, localhost)`,
    );
  }
  return admitOneUser(checkUserId(access.userId, "serve one user"));
}

/**
 * A token is refused, and not ignored: who sends one believes to ask for the user whom it names, and would be given the
 * memory of another.
 */
function admitOneUser(userId: string): Admission {
  return {
    async identify(authorization) {
      if (authorization !== undefined) throw new RefusedRequest("token-unexpected");
      return { userId, endsAtMs: null, tokenId: null };
    },
    isReady: () => Promise.resolve(true),
  };
}

class TokenAdmission implements Admission {
  readonly #options: TokenOptions;
  readonly #keys: VerifyingKeys;
  readonly #metadataUrl: string | null;
  readonly #badTokens = new RateLimit(httpLimits.badTokensPerMinute);
  /** Hashes of tokens that have been good. Being known admits nobody. */
  readonly #knownTokens = new Set<string>();

  constructor(options: TokenOptions, keys: VerifyingKeys, metadataUrl: string | null) {
    this.#options = options;
    this.#keys = keys;
    this.#metadataUrl = metadataUrl;
  }

  async identify(authorization: string | undefined, peer: string | undefined): Promise<Identity> {
    try {
      const token = bearerToken(authorization);
      await this.#checkPeer(token, peer);
      return await this.#verify(token);
    } catch (error) {
      if (!(error instanceof RefusedRequest) || error.headers["Retry-After"] !== undefined) throw error;
      const { reason, cause } = error;
      if (reason === "keys-unavailable") throw new RefusedRequest(reason, { headers: { "Retry-After": "5" }, cause });
      if (reason !== "token-missing") await this.#badTokens.count(peerKey(peer));
      if (reason === "token-user") throw error;
      throw new RefusedRequest(reason, { headers: this.#challenge(reason === "token-missing"), cause });
    }
  }

  isReady(): Promise<boolean> {
    return this.#keys.isReady();
  }

  /** RFC 6750: a client without a token is told no error, and of what is wrong with one no more than that. */
  #challenge(isMissing: boolean): Record<string, string> {
    const metadata = this.#metadataUrl === null ? [] : [`resource_metadata="${this.#metadataUrl}"`];
    const parts = [...(isMissing ? [] : ['error="invalid_token"']), ...metadata];
    return { "WWW-Authenticate": `Bearer ${parts.join(", ")}`.trim() };
  }

  async #verify(token: string): Promise<Identity> {
    try {
      const identity = await verifyToken(token, this.#keys, this.#options);
      putLast(this.#knownTokens, hashOf(token));
      return identity;
    } catch (error) {
      // It has expired, say: from now on it is as any other that is no good. Of keys that cannot be had it knows nothing.
      if (!(error instanceof RefusedRequest) || error.reason !== "keys-unavailable")
        this.#knownTokens.delete(hashOf(token));
      throw error;
    }
  }

  /** Behind one address there may be others, whose tokens have been good and are verified as ever. */
  async #checkPeer(token: string, peer: string | undefined): Promise<void> {
    const waitS = await this.#badTokens.waitS(peerKey(peer));
    if (waitS === 0 || this.#knownTokens.has(hashOf(token))) return;
    throw new RefusedRequest("peer-limited", { headers: { "Retry-After": String(waitS) } });
  }
}

const hashOf = (token: string): string => createHash("sha256").update(token).digest("base64url");
