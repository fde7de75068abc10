/** Checks 5 and 6: the user. Only a verified token, or the settings of a server for one user, can name a user. */
import { createHash, timingSafeEqual } from "node:crypto";

import { checkUserId, isUserId } from "../../values/ids.ts";
import { RateLimit, putLast } from "../../values/rate-limit.ts";
import { isLoopback } from "../loopback.ts";
import type { HttpServeOptions, TokenOptions } from "../serve-options.ts";
import { httpLimits } from "./http-limits.ts";
import { parseKeys, readKeyFile } from "./key-file.ts";
import type { Unusable } from "./key-file.ts";
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
  /** Whose access token it is that the page was given. Throws a reason that begins with `token-`, or `keys-unavailable`. */
  ofToken(token: string): Promise<Identity>;
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
      return { userId, client: null, originClass: null, access: "write", isOwner: false, endsAtMs: null, labels: {} };
    },
    ofToken: () => Promise.reject(new RefusedRequest("token-unexpected")),
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
    ofToken: (bearer) => verifyToken(bearer, keys, token),
    isReady: () => keys.isReady(),
  };
}

const hashOf = (secret: string): string => createHash("sha256").update(secret).digest("base64url");

interface AgentKeys {
  /** Returns the agent whose key it is. Throws `key-unknown`. */
  identify(key: string): Identity;
}

interface AgentKey {
  readonly hash: Buffer;
  readonly userId: string;
}

/** Rejects with a `RangeError` if the file cannot be used. */
async function openAgentKeys(file: string): Promise<AgentKeys> {
  const keys = readKeys(await readKeyFile(file, unusable));
  return {
    identify: (key) => {
      const hash = createHash("sha256").update(key, "latin1").digest();
      const found = keyPattern.test(key) ? findKey(keys, hash) : null;
      if (found === null) throw new RefusedRequest("key-unknown");
      // A key is no token: whoever wrote the file has given it to the agent.
      const labels = { key: hash.toString("hex").slice(0, keyIdChars) };
      const client = `X-API-Key ${labels.key}`;
      return {
        userId: found.userId,
        client,
        originClass: null,
        access: "write",
        isOwner: false,
        endsAtMs: null,
        labels,
      };
    },
  };
}

/** A shorter key could be guessed from its hash. */
const keyPattern = /^[\x21-\x7e]{24,512}$/;

/** As much of a hash as the audit log needs to tell keys apart. */
const keyIdChars = 12;

/** Compares with every hash, in a time that does not depend on how much of one is right. */
function findKey(keys: readonly AgentKey[], hash: Buffer): AgentKey | null {
  let found: AgentKey | null = null;
  for (const key of keys) if (timingSafeEqual(key.hash, hash)) found = key;
  return found;
}

function readKeys(text: string): AgentKey[] {
  const value = parseKeys(text, 1, unusable);
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw unusable("it is no JSON object of hashes and user ids");
  const entries = Object.entries(value);
  if (entries.length < 1 || entries.length > httpLimits.agentKeysMax) {
    throw unusable(`it has ${entries.length} keys, allowed: 1 to ${httpLimits.agentKeysMax}`);
  }
  return entries.map(([hash, userId], at) => {
    if (!/^[0-9a-f]{64}$/.test(hash)) throw unusable(`key ${at} is no SHA-256 in 64 lower-case hexadecimal digits`);
    if (typeof userId !== "string" || !isUserId(userId)) throw unusable(`key ${at} does not name a user`);
    return { hash: Buffer.from(hash, "hex"), userId };
  });
}

const unusable: Unusable = (why, cause) => new RangeError(`Cannot use the file with agents' keys: ${why}`, { cause });
