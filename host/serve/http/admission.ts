/** Checks 5 and 6: the user. Only a verified token, or the settings of a server for one user, can name a user. */
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
  /** Whether requests can be admitted. Fetches the keys if there have never been any. */
  isReady(): Promise<boolean>;
}

/** Rejects with a `RangeError` for unusable keys, and for a server for one user that other machines can reach. */
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
 * Refuses a token instead of ignoring it: its sender expects the memory of the user in the token, and would get that of
 * another user.
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
  /** Hashes of tokens that were valid. A known token is verified like any other. */
  const knownTokens = new Set<string>();

  /** Limits an address with many invalid tokens, but not its known tokens: other clients can share the address. */
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
      // The token is no longer valid: it has expired, for example. Missing keys say nothing about the token.
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

/** RFC 6750: no error code for a missing token, and no details for an invalid one. */
function challenge(reason: RefusalReason, metadataUrl: string | null): Record<string, string> {
  const error = reason === "token-missing" ? [] : ['error="invalid_token"'];
  const metadata = metadataUrl === null ? [] : [`resource_metadata="${metadataUrl}"`];
  return { "WWW-Authenticate": `Bearer ${[...error, ...metadata].join(", ")}`.trim() };
}
