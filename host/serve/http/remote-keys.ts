/** A key set that is fetched, kept for a while, and fetched again for a key that it does not have. */
import { isLoopback } from "../loopback.ts";
import { httpLimits } from "./http-limits.ts";
import { createRemoteJWKSet, customFetch } from "./jose.ts";
import type { FetchImplementation, JWTVerifyGetKey } from "./jose.ts";

type KeyTimes = { readonly [Name in "keysMs" | "keysCooldownMs" | "keysAgeMs"]: number };

/**
 * Forged tokens that name unknown keys make it ask once in a while, not once for each. While the server of the keys cannot
 * be reached, tokens are verified with what is known of it until that is too old.
 */
export class RemoteKeys {
  readonly find: JWTVerifyGetKey;
  readonly #known: { jwks(): unknown; reload(): Promise<void> };
  readonly #cooldownMs: number;
  #retryAtMs = 0;

  /** Throws a `RangeError` for a URL that others on the way could answer. */
  constructor(address: string, { keysMs, keysCooldownMs, keysAgeMs }: KeyTimes = httpLimits) {
    this.#cooldownMs = keysCooldownMs;
    const url = new URL(address);
    const isSafe = url.protocol === "https:" || (url.protocol === "http:" && isLoopback(url.hostname));
    if (!isSafe) throw new RangeError("Cannot use the key set: its URL is neither https: nor on a loopback address");
    const remote = createRemoteJWKSet(url, {
      timeoutDuration: keysMs,
      cooldownDuration: keysCooldownMs,
      cacheMaxAge: keysAgeMs,
      [customFetch]: (...request) => this.#fetch(...request),
    });
    this.#known = remote;
    this.find = remote;
  }

  /** Whether there has ever been a key set. Asks for it when there has not. */
  async isReady(): Promise<boolean> {
    // What is wrong is told when a token is to be verified.
    if (this.#known.jwks() === undefined) await this.#known.reload().catch(() => null);
    return this.#known.jwks() !== undefined;
  }

  readonly #fetch: FetchImplementation = async (url, options) => {
    if (performance.now() < this.#retryAtMs) throw new Error("The key set could not be fetched a moment ago");
    this.#retryAtMs = performance.now() + this.#cooldownMs;
    const response = await fetch(url, options);
    if (response.status !== 200) throw new Error(`The server of the key set answered ${response.status}, expected 200`);
    const body = await readBounded(response, httpLimits.keyFileBytesMax);
    const { keys } = JSON.parse(body) as { keys?: unknown };
    if (!Array.isArray(keys) || keys.length > httpLimits.keysMax) {
      throw new Error(`The key set is none of at most ${httpLimits.keysMax} keys`);
    }
    this.#retryAtMs = 0;
    return new Response(body);
  };
}

async function readBounded(response: Response, bytesMax: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > bytesMax) throw new Error(`The key set is larger than ${bytesMax} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}
