/** Tokens as the issuer signs them, with any header and payload, and imitations of them. */
import { generateKeyPairSync, KeyObject, sign } from "node:crypto";

import { audience, issuer } from "../../stage/token-issuer.ts";
import type { TokenIssuer } from "../../stage/token-issuer.ts";

export type Claims = Readonly<Record<string, unknown>>;
export type Header = Readonly<Record<string, unknown>>;

/** The issuer's key has this name. */
export const usual: Header = { alg: "ES256", kid: "key-1" };

export class Forge {
  /** An attacker's key, of the same type as the issuer's. */
  readonly own = generateKeyPairSync("ec", { namedCurve: "P-256" });
  readonly #issuing: TokenIssuer;

  constructor(issuing: TokenIssuer) {
    this.#issuing = issuing;
  }

  /** The issuer's public key, which everybody knows. */
  async publicPem(): Promise<string> {
    return await this.#issuing.publicPem();
  }

  /** Signed by the issuer, whatever it claims. A text is used as the raw payload. */
  issued(claims: Claims | string | Buffer, encoding: "ieee-p1363" | "der" = "ieee-p1363"): string {
    const key = KeyObject.from(this.#issuing.key.privateKey);
    return signed(usual, claims, (text) => sign("sha256", Buffer.from(text), { key, dsaEncoding: encoding }));
  }

  /** Signed with the attacker's key. */
  forged(claims: Claims, header: Header = {}): string {
    const key = this.own.privateKey;
    return signed({ ...usual, ...header }, claims, (text) =>
      sign("sha256", Buffer.from(text), { key, dsaEncoding: "ieee-p1363" }),
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

/** Changes one part of a token: 0 is the header, 1 the payload, 2 the signature. */
export function withPart(token: string, at: 0 | 1 | 2, change: (part: string) => string): string {
  return token
    .split(".")
    .map((each, index) => (index === at ? change(each) : each))
    .join(".");
}
