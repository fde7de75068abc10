/** Issues tokens as an identity provider does, with a key pair of its own. */
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import type { GenerateKeyPairResult } from "jose";

const algorithm = "ES256";

export class TokenIssuer {
  readonly issuer = "https://issuer.test";
  readonly audience = "https://memcell.test/mcp";
  readonly #keys: GenerateKeyPairResult;

  private constructor(keys: GenerateKeyPairResult) {
    this.#keys = keys;
  }

  static async make(): Promise<TokenIssuer> {
    return new TokenIssuer(await generateKeyPair(algorithm));
  }

  /** The public key, as a JSON Web Key Set. */
  async keySet(): Promise<string> {
    const key = await exportJWK(this.#keys.publicKey);
    return JSON.stringify({ keys: [{ ...key, kid: "1", alg: algorithm, use: "sig" }] });
  }

  /** Good for an hour. */
  async tokenFor(userId: string): Promise<string> {
    return new SignJWT()
      .setProtectedHeader({ alg: algorithm, kid: "1" })
      .setIssuer(this.issuer)
      .setAudience(this.audience)
      .setSubject(userId)
      .setIssuedAt()
      .setExpirationTime("1h")
      .sign(this.#keys.privateKey);
  }
}
