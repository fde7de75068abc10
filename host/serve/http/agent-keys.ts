/** The keys of agents that send `X-API-Key`: a file with their hashes, read at the start. */
import { createHash, timingSafeEqual } from "node:crypto";

import { isUserId } from "../../values/user-id.ts";
import { httpLimits } from "./http-limits.ts";
import { parseKeys, readKeyFile } from "./key-file.ts";
import type { Unusable } from "./key-file.ts";
import { RefusedRequest } from "./refusals.ts";
import type { Identity } from "./verify-token.ts";

export interface AgentKeys {
  /** Returns the agent whose key it is. Throws `key-unknown`. */
  identify(key: string): Identity;
}

interface AgentKey {
  readonly hash: Buffer;
  readonly userId: string;
}

/** Rejects with a `RangeError` if the file cannot be used. */
export async function openAgentKeys(file: string): Promise<AgentKeys> {
  const keys = readKeys(await readKeyFile(file, unusable));
  return {
    identify: (key) => {
      const hash = createHash("sha256").update(key, "latin1").digest();
      const found = keyPattern.test(key) ? findKey(keys, hash) : null;
      if (found === null) throw new RefusedRequest("key-unknown");
      // A key is no token: whoever wrote the file has given it to the agent.
      const labels = { key: hash.toString("hex").slice(0, keyIdChars) };
      const client = `X-API-Key ${labels.key}`;
      return { userId: found.userId, client, originClass: null, access: "write", endsAtMs: null, labels };
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
