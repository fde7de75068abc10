/** The keys of agents that send `X-API-Key`: a file with their hashes, read at the start. */
import { isUtf8 } from "node:buffer";
import { createHash, timingSafeEqual } from "node:crypto";

import { UnfitJson } from "../../../shared/strict-json.ts";
import { readBoundedFile } from "../../disk/bounded-file.ts";
import { parsePlacedJson } from "../../values/json-place.ts";
import { isUserId } from "../../values/user-id.ts";
import { httpLimits } from "./http-limits.ts";
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
  const keys = readKeys(await textOf(file));
  return {
    identify: (key) => {
      const hash = createHash("sha256").update(key, "latin1").digest();
      const found = keyPattern.test(key) ? findKey(keys, hash) : null;
      if (found === null) throw new RefusedRequest("key-unknown");
      // A key is no token: whoever wrote the file has given it to the agent.
      const keyId = hash.toString("hex").slice(0, keyIdChars);
      const client = `X-API-Key ${keyId}`;
      return { userId: found.userId, client, originClass: null, access: "write", endsAtMs: null, tokenId: null, keyId };
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

async function textOf(file: string): Promise<string> {
  const read = await readBoundedFile(file, httpLimits.keyFileBytesMax).catch((cause: unknown) => {
    throw unusable("it cannot be read", cause);
  });
  if (read.kind === "unfit") throw unusable(read.reason);
  // With another character in place of a byte, a key would name another user.
  if (!isUtf8(read.bytes)) throw unusable("it is not UTF-8 text");
  return new TextDecoder().decode(read.bytes);
}

function readKeys(text: string): AgentKey[] {
  const entries = Object.entries(objectIn(text));
  if (entries.length < 1 || entries.length > httpLimits.agentKeysMax) {
    throw unusable(`it has ${entries.length} keys, allowed: 1 to ${httpLimits.agentKeysMax}`);
  }
  return entries.map(([hash, userId], at) => {
    if (!/^[0-9a-f]{64}$/.test(hash)) throw unusable(`key ${at} is no SHA-256 in 64 lower-case hexadecimal digits`);
    if (typeof userId !== "string" || !isUserId(userId)) throw unusable(`key ${at} does not name a user`);
    return { hash: Buffer.from(hash, "hex"), userId };
  });
}

function objectIn(text: string): object {
  let value: unknown;
  try {
    value = parsePlacedJson(text, 1);
  } catch (error) {
    throw unusable(error instanceof UnfitJson ? `it ${error.message}` : "it is not JSON", error);
  }
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value;
  throw unusable("it is no JSON object of hashes and user ids");
}

/** The message contains nothing from the file. */
function unusable(why: string, cause?: unknown): RangeError {
  return new RangeError(`Cannot use the file with agents' keys: ${why}`, { cause });
}
