/** The token issuer of a server under attack, and ways to imitate its tokens. */
import { constants, createHmac, generateKeyPairSync, sign } from "node:crypto";
import type { KeyObject } from "node:crypto";

import { exportJWK, SignJWT } from "jose";

import { audience, issuer } from "../../stage/token-issuer.ts";

interface Pair {
  readonly publicKey: KeyObject;
  readonly privateKey: KeyObject;
}

export type Claims = Readonly<Record<string, unknown>>;
export type Header = Readonly<Record<string, unknown>>;

export class Forge {
  /** The issuer's own keys. */
  readonly ec: Pair = generateKeyPairSync("ec", { namedCurve: "P-256" });
  readonly rsa: Pair = generateKeyPairSync("rsa", { modulusLength: 2048 });
  /** An attacker's keys of the same types. */
  readonly otherEc: Pair = generateKeyPairSync("ec", { namedCurve: "P-256" });
  readonly otherRsa: Pair = generateKeyPairSync("rsa", { modulusLength: 2048 });

  /** The issuer's public keys, as a JSON Web Key Set. */
  async keySet(): Promise<string> {
    const ec = { ...(await exportJWK(this.ec.publicKey)), kid: "ec", alg: "ES256", use: "sig" };
    const rsa = { ...(await exportJWK(this.rsa.publicKey)), kid: "rsa", alg: "RS256", use: "sig" };
    return JSON.stringify({ keys: [ec, rsa] });
  }

  /** A genuine token, valid for an hour. */
  async tokenFor(userId: string): Promise<string> {
    const token = new SignJWT(claimsOf(userId)).setProtectedHeader({ alg: "ES256", kid: "ec" });
    return await token.sign(this.ec.privateKey);
  }

  /** Signed by the issuer, whatever it claims. A text is used as the raw payload. */
  issued(claims: Claims | string | Buffer, header: Header = {}): string {
    return signed({ alg: "ES256", kid: "ec", ...header }, claims, (text) => ecSignature(text, this.ec.privateKey));
  }

  /** Signed with an attacker's key. */
  forged(claims: Claims, header: Header = {}): string {
    return signed({ alg: "ES256", kid: "ec", ...header }, claims, (text) => ecSignature(text, this.otherEc.privateKey));
  }

  /** Signed with the issuer's RSA key, with PS256 padding if `isPss`. */
  rsaSigned(claims: Claims, header: Header, isPss = false): string {
    const { RSA_PKCS1_PSS_PADDING, RSA_PKCS1_PADDING, RSA_PSS_SALTLEN_DIGEST } = constants;
    const padding = isPss ? RSA_PKCS1_PSS_PADDING : RSA_PKCS1_PADDING;
    const key = { key: this.rsa.privateKey, padding, ...(isPss && { saltLength: RSA_PSS_SALTLEN_DIGEST }) };
    return signed(header, claims, (text) => sign("sha256", Buffer.from(text), key));
  }

  /** Signed with a secret that everybody knows. */
  hmac(claims: Claims, secret: string | Buffer, header: Header = {}): string {
    return signed({ alg: "HS256", kid: "ec", ...header }, claims, (text) =>
      createHmac("sha256", secret).update(text).digest(),
    );
  }

  /** With a DER-encoded signature. JWS requires the raw encoding. */
  derSigned(claims: Claims): string {
    return signed({ alg: "ES256", kid: "ec" }, claims, (text) =>
      sign("sha256", Buffer.from(text), { key: this.ec.privateKey, dsaEncoding: "der" }),
    );
  }
}

/** Claims valid for an hour. */
export function claimsOf(userId: unknown): Claims {
  const now = Math.floor(Date.now() / 1000);
  return { iss: issuer, aud: audience, sub: userId, iat: now, exp: now + 3600 };
}

/** A token in compact form, with the given signature. */
export function signed(
  header: Header,
  claims: Claims | string | Buffer,
  signatureOf: (text: string) => Buffer | string,
): string {
  const payload = typeof claims === "string" || Buffer.isBuffer(claims) ? claims : JSON.stringify(claims);
  const text = `${base64url(JSON.stringify(header))}.${base64url(payload)}`;
  return `${text}.${base64url(signatureOf(text))}`;
}

export const base64url = (data: string | Buffer): string => Buffer.from(data).toString("base64url");

function ecSignature(text: string, key: KeyObject): Buffer {
  return sign("sha256", Buffer.from(text), { key, dsaEncoding: "ieee-p1363" });
}

/** The other valid form of an ECDSA signature: (r, n - s) for (r, s). */
export function withOtherS(token: string): string {
  const order = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;
  const [header = "", payload = "", signature = ""] = token.split(".");
  const bytes = Buffer.from(signature, "base64url");
  const s = order - BigInt(`0x${bytes.subarray(32).toString("hex")}`);
  const other = Buffer.concat([bytes.subarray(0, 32), Buffer.from(s.toString(16).padStart(64, "0"), "hex")]);
  return [header, payload, base64url(other)].join(".");
}

/** Replaces one part of a token: 0 is the header, 1 the payload, 2 the signature. */
export function withPart(token: string, at: 0 | 1 | 2, part: string): string {
  return token
    .split(".")
    .map((each, index) => (index === at ? part : each))
    .join(".");
}
