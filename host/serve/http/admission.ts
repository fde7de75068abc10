/** Checks 5 and 6: the user. Only a verified token, or the settings of a server for one user, can name a user. */
import { createHash } from "node:crypto";

import { RateLimit, putLast } from "../../values/rate-limit.ts";
import { checkUserId } from "../../values/user-id.ts";
import { isLoopback } from "../loopback.ts";
import type { HttpServeOptions, TokenOptions } from "../serve-options.ts";
import { openAgentKeys } from "./agent-keys.ts";
import type { AgentKeys } from "./agent-keys.ts";
import { httpLimits } from "./http-limits.ts";
import { peerKey } from "./peer.ts";
import { RefusedRequest } from "./refusals.ts";
import { openTokenKeys } from "./token-keys.ts";
import type { VerifyingKeys } from "./token-keys.ts";
import { challenge } from "./token-scope.ts";
import { bearerToken, verifyToken } from "./verify-token.ts";
import type { Identity } from "./verify-token.ts";

/** What a request brings to say who sends it. */
export interface Credentials {
  readonly authorization: string | undefined;
  /** `X-API-Key`; `undefined` also for a target that ignores it. */
  readonly apiKey: string | undefined;
}

export interface Admission {
  /**
   * Throws a reason that begins with `token-` or `key-`, `credentials-several`, `peer-limited` or `keys-unavailable`.
   */
  identify(credentials: Credentials, peer: string | undefined): Promise<Identity>;
  /** Whether requests can be admitted. Fetches the keys if there have never been any. */
  isReady(): Promise<boolean>;
}

/** Rejects with a `RangeError` for unusable keys, and for a server for one user that other machines can reach. */
export async function openAdmission(options: HttpServeOptions, onError: (error: unknown) => void): Promise<Admission> {
  const { access, host, storage } = options;
  const keysFile = storage?.agentKeys ?? null;
  if (access.kind === "token") {
    const agentKeys = keysFile === null ? null : await openAgentKeys(keysFile);
    const keys = await openTokenKeys(access.token, onError);
    return admitByToken({ options, token: access.token, keys, agentKeys });
  }
  if (keysFile !== null) throw new RangeError("Cannot use agents' keys for a server of one user");
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
    async identify({ authorization, apiKey }) {
      if (apiKey !== undefined) throw new RefusedRequest("key-unexpected");
      if (authorization !== undefined) throw new RefusedRequest("token-unexpected");
      return { userId, client: null, originClass: null, access: "write", endsAtMs: null, labels: {} };
    },
    isReady: () => Promise.resolve(true),
  };
}

interface AdmittingParts {
  readonly options: HttpServeOptions;
  readonly token: TokenOptions;
  readonly keys: VerifyingKeys;
  readonly agentKeys: AgentKeys | null;
}

function admitByToken({ options, token, keys, agentKeys }: AdmittingParts): Admission {
  const badTokens = new RateLimit(httpLimits.badTokensPerMinute, httpLimits.countedMax);
  /** Hashes of tokens and keys that were valid. A known token is verified like any other. */
  const known = new Set<string>();

  const identify = async (secret: string, peer: string, verify: () => Identity | Promise<Identity>) => {
    const hash = hashOf(secret);
    const waitS = badTokens.waitS(peer);
    // Limits an address with many invalid tokens, but not its known ones: other clients can share the address.
    if (waitS > 0 && !known.has(hash))
      throw new RefusedRequest("peer-limited", { headers: { "Retry-After": String(waitS) } });
    try {
      const identity = await verify();
      putLast(known, hash, httpLimits.countedMax);
      return identity;
    } catch (error) {
      // The token is no longer valid: it has expired, for example. Missing keys say nothing about the token.
      if (!(error instanceof RefusedRequest) || error.reason !== "keys-unavailable") known.delete(hash);
      throw error;
    }
  };

  return {
    async identify({ authorization, apiKey }, address) {
      // Two credentials can be of two users.
      if (apiKey !== undefined && authorization !== undefined) throw new RefusedRequest("credentials-several");
      if (apiKey !== undefined && agentKeys === null) throw new RefusedRequest("key-unexpected");
      const peer = peerKey(address);
      try {
        if (apiKey !== undefined && agentKeys !== null)
          return await identify(apiKey, peer, () => agentKeys.identify(apiKey));
        const bearer = bearerToken(authorization);
        return await identify(bearer, peer, () => verifyToken(bearer, keys, token));
      } catch (error) {
        if (!(error instanceof RefusedRequest) || error.reason === "peer-limited") throw error;
        const { reason, cause } = error;
        if (reason === "keys-unavailable") throw new RefusedRequest(reason, { headers: { "Retry-After": "5" }, cause });
        if (reason !== "token-missing") badTokens.count(peer);
        if (["key-unknown", "token-user", "token-origin"].includes(reason)) throw error;
        const headers = challenge(reason === "token-missing" ? null : "invalid_token", options);
        throw new RefusedRequest(reason, { headers, cause });
      }
    },
    isReady: () => keys.isReady(),
  };
}

const hashOf = (secret: string): string => createHash("sha256").update(secret).digest("base64url");
