/** The keys that verify tokens: from a file, checked at the start, or fetched. */
import { createPublicKey } from "node:crypto";
import type { KeyObject } from "node:crypto";

import { boundedBytes } from "../../values/bounded-bytes.ts";
import { ToolError } from "../../values/tool-error.ts";
import { createLocalJWKSet, createRemoteJWKSet, customFetch, errors } from "../jose.ts";
import type { FetchImplementation, JWTVerifyGetKey } from "../jose.ts";
import { isSafeAddress } from "../loopback.ts";
import type { TokenAlgorithm, TokenOptions } from "../serve-options.ts";
import { httpLimits } from "./http-limits.ts";
import { parseKeys, readKeyFile } from "./key-file.ts";
import type { Unusable } from "./key-file.ts";

export interface VerifyingKeys {
  /** Finds the known key that a token's header names. */
  readonly find: JWTVerifyGetKey;
  /** The allowed algorithms that a key fits. Never empty. */
  readonly algorithms: readonly TokenAlgorithm[];
  /** Whether there has ever been a key. If not, tries to fetch the keys. */
  readonly isReady: () => Promise<boolean>;
}

/**
 * Rejects with a `RangeError` when the keys cannot be used, or fit none of the algorithms. `tell` gets a failure to fetch
 * the keys that no request has met.
 */
export async function openTokenKeys(
  { keys, algorithms }: TokenOptions,
  tell: (error: unknown) => void,
): Promise<VerifyingKeys> {
  if (keys.kind === "jwks-url") return { algorithms, ...remoteKeys(keys.url, { tell }) };
  const text = await readKeyFile(keys.file, keys.kind === "public-key" ? unusableKey : unusableSet);
  const allowed = algorithms.join(", ");
  if (keys.kind === "public-key") {
    const key = readPublicKey(text);
    const usable = algorithms.filter((algorithm) => fits(key, algorithm));
    if (usable.length === 0) throw unusableKey(`a key of type ${key.asymmetricKeyType} fits none of ${allowed}`);
    return { find: () => Promise.resolve(key), algorithms: usable, isReady };
  }
  const set = readKeySet(text);
  const usable = algorithms.filter((algorithm) =>
    set.some((key) => fits(key.object, algorithm) && mayBe(key, algorithm)),
  );
  if (usable.length === 0) throw unusableSet(`none of its keys fits ${allowed}`);
  return { find: createLocalJWKSet({ keys: set.map(({ jwk }) => jwk) }), algorithms: usable, isReady };
}

/** For keys that were read at the start. */
const isReady = (): Promise<boolean> => Promise.resolve(true);

const unusableKey: Unusable = (why, cause) => new RangeError(`Cannot use the public key: ${why}`, { cause });
const unusableSet: Unusable = (why, cause) => new RangeError(`Cannot use the key set: ${why}`, { cause });

/** Refuses a private key, which should not be on this machine. Node would derive the public key from it. */
function readPublicKey(text: string): KeyObject {
  const labels = Array.from(text.matchAll(/-----BEGIN ([A-Z0-9 ]+)-----/g), ([, label]) => label);
  if (labels.length !== 1 || labels[0] !== "PUBLIC KEY") {
    throw unusableKey(`its PEM holds ${labels.join(", ") || "nothing"}, allowed: one PUBLIC KEY`);
  }
  try {
    return createPublicKey({ key: text, format: "pem" });
  } catch (cause) {
    throw unusableKey("its PEM cannot be decoded", cause);
  }
}

const curves: Readonly<Record<string, string>> = { ES256: "prime256v1", ES384: "secp384r1", ES512: "secp521r1" };

function fits(key: KeyObject, algorithm: TokenAlgorithm): boolean {
  const { asymmetricKeyType: type, asymmetricKeyDetails: details } = key;
  if (algorithm === "EdDSA") return type === "ed25519";
  if (algorithm.startsWith("ES")) return type === "ec" && details?.namedCurve === curves[algorithm];
  return type === "rsa" && (details?.modulusLength ?? 0) >= 2_048;
}

type SetKey = { readonly jwk: Record<string, unknown> & { readonly kty: string }; readonly object: KeyObject };

const mayBe = ({ jwk }: SetKey, algorithm: TokenAlgorithm): boolean =>
  (jwk["alg"] ?? algorithm) === algorithm && (jwk["use"] ?? "sig") === "sig";

function readKeySet(text: string): SetKey[] {
  const keys = (parseKeys(text, 16, unusableSet) as { readonly keys?: unknown } | null)?.keys;
  if (!Array.isArray(keys) || keys.length < 1 || keys.length > httpLimits.keysMax) {
    throw unusableSet(`it has no "keys" of 1 to ${httpLimits.keysMax} JSON Web Keys`);
  }
  return keys.map((key, at) => readSetKey(key, at));
}

function readSetKey(key: unknown, at: number): SetKey {
  const wrong = (why: string, cause?: unknown): RangeError => unusableSet(`key ${at} ${why}`, cause);
  if (typeof key !== "object" || key === null || !("kty" in key)) throw wrong("is not a JSON Web Key");
  const jwk = key as SetKey["jwk"];
  if (!["RSA", "EC", "OKP"].includes(jwk.kty)) throw wrong("is not a public key of type RSA, EC or OKP");
  if ("d" in jwk) throw wrong("is private, allowed: public keys");
  try {
    return { jwk, object: createPublicKey({ key: jwk, format: "jwk" }) };
  } catch (cause) {
    throw wrong("cannot be decoded", cause);
  }
}

type KeyTimes = { readonly [Name in "keysMs" | "keysCooldownMs" | "keysAgeMs"]: number };

/**
 * A key set that is fetched, cached for a while, and fetched again for an unknown key. A cooldown limits how often
 * forged tokens with unknown keys cause a fetch. While the server of the keys cannot be reached, tokens are verified
 * with the cached keys until these are too old. Throws a `RangeError` for a URL whose answer others could forge.
 */
export function remoteKeys(
  address: string,
  { tell, ...times }: Partial<KeyTimes> & { readonly tell: (error: unknown) => void },
): Pick<VerifyingKeys, "find" | "isReady"> {
  const url = new URL(address);
  if (!isSafeAddress(url)) {
    throw new RangeError("Cannot use the key set: its URL is neither https: nor on a loopback address");
  }
  const { keysMs, keysCooldownMs, keysAgeMs }: KeyTimes = { ...httpLimits, ...times };
  let failure: ToolError | null = null;
  // The package measures a key set's age by the system's clock. After a step back, it would not fetch for as long.
  let [retryAtMs, fetchedAtMs] = [0, -Infinity];
  const fetchKeys: FetchImplementation = async (...request) => {
    if (failure !== null && performance.now() < retryAtMs) throw failure;
    retryAtMs = performance.now() + keysCooldownMs;
    try {
      const response = await fetchKeySet(...request);
      [retryAtMs, fetchedAtMs, failure] = [0, performance.now(), null];
      return response;
    } catch (error) {
      failure = cannotFetch(url, error, keysMs);
      throw failure;
    }
  };
  const remote = createRemoteJWKSet(url, { timeoutDuration: keysMs, [customFetch]: fetchKeys });
  let known: JWTVerifyGetKey | null = null;
  const reload = async (): Promise<JWTVerifyGetKey> => {
    await remote.reload();
    known = createLocalJWKSet(remote.jwks() ?? { keys: [] });
    return known;
  };
  const find: JWTVerifyGetKey = async (...asked) => {
    const isOld = performance.now() - fetchedAtMs >= keysAgeMs;
    const present = known === null || isOld ? await reload() : known;
    try {
      return await present(...asked);
    } catch (error) {
      const isCooling = performance.now() < Math.max(retryAtMs, fetchedAtMs + keysCooldownMs);
      if (!(error instanceof errors.JWKSNoMatchingKey) || isCooling) throw error;
      return await (
        await reload()
      )(...asked);
    }
  };
  const hasKeys = async (): Promise<boolean> => {
    const isFirst = failure === null;
    // Only the first failure of several: a probe asks again and again, and requests report theirs.
    if (known === null) await reload().catch((error: unknown) => isFirst && tell(error));
    return known !== null;
  };
  return { find, isReady: hasKeys };
}

/** Says for the operator from where the keys did not come, and why. Clients get nothing of it. */
function cannotFetch({ origin, pathname }: URL, error: unknown, keysMs: number): ToolError {
  return new ToolError("INTERNAL", `Cannot fetch the key set from ${origin}${pathname}: ${reasonOf(error, keysMs)}`);
}

const reasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: "the connection was refused",
  ECONNRESET: "the connection was cut",
  ENOTFOUND: "there is no host of this name",
  EAI_AGAIN: "the host's name cannot be looked up",
  EHOSTUNREACH: "there is no way to the host",
  ENETUNREACH: "there is no way to the network",
};

function reasonOf(error: unknown, keysMs: number): string {
  if (!(error instanceof Error)) return "the request failed";
  if (["AbortError", "TimeoutError"].includes(error.name)) return `no answer in ${keysMs} ms`;
  const { cause } = error;
  if (!(cause instanceof Error)) return error.message;
  const code = "code" in cause && typeof cause.code === "string" ? cause.code : null;
  const reason = (reasons[code ?? ""] ?? cause.message) || "the request failed";
  return code === null ? reason : `${reason} (${code})`;
}

const fetchKeySet: FetchImplementation = async (url, options) => {
  const response = await fetch(url, options);
  if (response.status >= 300 && response.status < 400)
    throw new Error(`it redirects (${response.status}); expected 200`);
  if (response.status !== 200) throw new Error(`the server answered ${response.status}; expected 200`);
  const { keyFileBytesMax } = httpLimits;
  const bytes = await boundedBytes(response.body ?? [], keyFileBytesMax);
  if (bytes === null) throw new Error(`it is larger than ${keyFileBytesMax} bytes`);
  const body = bytes.toString("utf8");
  const keys = keysIn(body);
  if (!Array.isArray(keys) || keys.length > httpLimits.keysMax) {
    throw new Error(`it does not have "keys" of at most ${httpLimits.keysMax} JSON Web Keys`);
  }
  return new Response(body);
};

function keysIn(body: string): unknown {
  try {
    return (JSON.parse(body) as { readonly keys?: unknown } | null)?.keys;
  } catch {
    // The parser's message quotes the body.
    throw new Error("its answer is not JSON");
  }
}
