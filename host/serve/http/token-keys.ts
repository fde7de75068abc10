/** The keys that tokens are verified with, checked as far as they can be before anybody asks. */
import { createPublicKey } from "node:crypto";
import type { KeyObject } from "node:crypto";

import { parseStrictJson, UnfitJson } from "../../../shared/strict-json.ts";
import { readBoundedFile } from "../../disk/bounded-file.ts";
import type { TokenAlgorithm, TokenKeys, TokenOptions } from "../serve-options.ts";
import { httpLimits } from "./http-limits.ts";
import { createLocalJWKSet } from "./jose.ts";
import type { JWTVerifyGetKey } from "./jose.ts";
import { RemoteKeys } from "./remote-keys.ts";

export interface VerifyingKeys {
  /** The key that a token's header names, of those that are known here. */
  readonly find: JWTVerifyGetKey;
  /** Those of the options that a key can have. Never empty. */
  readonly algorithms: readonly TokenAlgorithm[];
  /** Whether there has ever been a key. Asks for one when there has not. */
  readonly isReady: () => Promise<boolean>;
}

/** Rejects with a `RangeError` when the keys cannot be used, or fit none of the algorithms. */
export async function openTokenKeys({ keys, algorithms }: TokenOptions): Promise<VerifyingKeys> {
  if (keys.kind === "jwks-url") {
    const remote = new RemoteKeys(keys.url);
    return { find: remote.find, algorithms, isReady: () => remote.isReady() };
  }
  const text = await readKeyFile(keys);
  if (keys.kind === "public-key") {
    const key = readPublicKey(text);
    return { find: () => Promise.resolve(key), algorithms: fitting(key, algorithms), isReady };
  }
  const set = readKeySet(text);
  const usable = algorithms.filter((algorithm) =>
    set.some((key) => fits(key.object, algorithm) && mayBe(key, algorithm)),
  );
  if (usable.length === 0) throw unusable(keys, `no key of it fits ${algorithms.join(", ")}`);
  return { find: createLocalJWKSet({ keys: set.map(({ jwk }) => jwk) }), algorithms: usable, isReady };
}

/** What was read at the start is there. */
const isReady = (): Promise<boolean> => Promise.resolve(true);

const names: Record<TokenKeys["kind"], string> = {
  "jwks-url": "the key set",
  "jwks-file": "the key set",
  "public-key": "the public key",
};

function unusable({ kind }: Pick<TokenKeys, "kind">, why: string, cause?: unknown): RangeError {
  return new RangeError(`Cannot use ${names[kind]}: ${why}`, { cause });
}

async function readKeyFile(keys: Exclude<TokenKeys, { kind: "jwks-url" }>): Promise<string> {
  const read = await readBoundedFile(keys.file, httpLimits.keyFileBytesMax).catch((cause: unknown) => {
    throw unusable(keys, "its file cannot be read", cause);
  });
  if (read.kind === "unfit") throw unusable(keys, read.reason);
  return Buffer.from(read.bytes).toString("utf8");
}

/** From a private key Node would make the public one: it is refused, for it should not be here. */
function readPublicKey(text: string): KeyObject {
  const kind = "public-key";
  const labels = Array.from(text.matchAll(/-----BEGIN ([A-Z0-9 ]+)-----/g), ([, label]) => label);
  if (labels.length !== 1 || labels[0] !== "PUBLIC KEY") {
    throw unusable({ kind }, `its PEM holds ${labels.join(", ") || "nothing"}, allowed: one PUBLIC KEY`);
  }
  try {
    return createPublicKey({ key: text, format: "pem" });
  } catch (cause) {
    throw unusable({ kind }, "its PEM cannot be decoded", cause);
  }
}

function fitting(key: KeyObject, algorithms: readonly TokenAlgorithm[]): readonly TokenAlgorithm[] {
  const fit = algorithms.filter((algorithm) => fits(key, algorithm));
  if (fit.length > 0) return fit;
  throw unusable(
    { kind: "public-key" },
    `a key of type ${key.asymmetricKeyType} fits none of ${algorithms.join(", ")}`,
  );
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
  const kind = "jwks-file";
  let keys: unknown;
  try {
    keys = (parseStrictJson(text, 16) as { keys?: unknown } | null)?.keys;
  } catch (error) {
    throw unusable({ kind }, error instanceof UnfitJson ? `it ${error.message}` : "it is not JSON", error);
  }
  if (!Array.isArray(keys) || keys.length < 1 || keys.length > httpLimits.keysMax) {
    throw unusable({ kind }, `it has no "keys" of 1 to ${httpLimits.keysMax} JSON Web Keys`);
  }
  return keys.map((key, at) => readSetKey(key, at));
}

function readSetKey(key: unknown, at: number): SetKey {
  const wrong = (why: string, cause?: unknown): RangeError =>
    unusable({ kind: "jwks-file" }, `key ${at} ${why}`, cause);
  if (typeof key !== "object" || key === null || !("kty" in key)) throw wrong("is no JSON Web Key");
  const jwk = key as SetKey["jwk"];
  if (!["RSA", "EC", "OKP"].includes(jwk.kty)) throw wrong("is no public key of type RSA, EC or OKP");
  if ("d" in jwk) throw wrong("is private, allowed: public keys");
  try {
    return { jwk, object: createPublicKey({ key: jwk, format: "jwk" }) };
  } catch (cause) {
    throw wrong("cannot be decoded", cause);
  }
}
