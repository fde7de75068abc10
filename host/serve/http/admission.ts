/** Checks 5 and 6: who asks. Nothing but a verified token, or the settings of a server for one user, ever names a user. */
import { createHash } from "node:crypto";

import { checkUserId } from "../../values/user-id.ts";
import { isLoopback } from "../loopback.ts";
import type { HttpServeOptions, TokenOptions } from "../serve-options.ts";
import { httpLimits } from "./http-limits.ts";
import { peerKey } from "./peer.ts";
import { RateLimit, putLast } from "./rate-limit.ts";
import { RefusedRequest } from "./refusals.ts";
import type { RefusalReason } from "./refusals.ts";
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
    return admitByToken(access.token, await openTokenKeys(access.token), metadataUrl);
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

function admitByToken(options: TokenOptions, keys: VerifyingKeys, metadataUrl: string | null): Admission {
  const badTokens = new RateLimit(httpLimits.badTokensPerMinute);
  /** Hashes of tokens that have been good. Being known admits nobody. */
  const knownTokens = new Set<string>();

  /** Behind one address there may be others, whose tokens have been good and are verified as ever. */
  const checkPeer = async (hash: string, peer: string | undefined): Promise<void> => {
    const waitS = await badTokens.waitS(peerKey(peer));
    if (waitS === 0 || knownTokens.has(hash)) return;
    throw new RefusedRequest("peer-limited", { headers: { "Retry-After": String(waitS) } });
  };

  const verify = async (token: string, hash: string): Promise<Identity> => {
    try {
      const identity = await verifyToken(token, keys, options);
      putLast(knownTokens, hash);
      return identity;
    } catch (error) {
      // It has expired, say: from now on it is as any other that is no good. Of keys that cannot be had it knows nothing.
      if (!(error instanceof RefusedRequest) || error.reason !== "keys-unavailable") knownTokens.delete(hash);
      throw error;
    }
  };

  return {
    async identify(authorization, peer) {
      try {
        const token = bearerToken(authorization);
        const hash = createHash("sha256").update(token).digest("base64url");
        await checkPeer(hash, peer);
        return await verify(token, hash);
      } catch (error) {
        if (!(error instanceof RefusedRequest) || error.reason === "peer-limited") throw error;
        const { reason, cause } = error;
        if (reason === "keys-unavailable") throw new RefusedRequest(reason, { headers: { "Retry-After": "5" }, cause });
        if (reason !== "token-missing") await badTokens.count(peerKey(peer));
        if (reason === "token-user") throw error;
        throw new RefusedRequest(reason, { headers: challenge(reason, metadataUrl), cause });
      }
    },
    isReady: () => keys.isReady(),
  };
}

/** RFC 6750: a client without a token is told no error, and of what is wrong with one no more than that. */
function challenge(reason: RefusalReason, metadataUrl: string | null): Record<string, string> {
  const error = reason === "token-missing" ? [] : ['error="invalid_token"'];
  const metadata = metadataUrl === null ? [] : [`resource_metadata="${metadataUrl}"`];
  return { "WWW-Authenticate": `Bearer ${[...error, ...metadata].join(", ")}`.trim() };
}
