/**
 * A token issuer for tests: keys of one algorithm, served as a key set by a real server, and tokens signed with them.
 */
import { once } from "node:events";
import { createServer } from "node:http";
import type { ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

import { exportJWK, exportSPKI, generateKeyPair, SignJWT } from "jose";
import type { CryptoKey, JWK } from "jose";

export const issuer = "https://issuer.example";
export const audience = "https://memory.example";

export interface TokenParts {
  /** Added to `iss`, `aud`, `exp` and `sub`, or replacing them. `undefined` removes a claim. */
  readonly claims?: Readonly<Record<string, unknown>>;
  readonly header?: Readonly<Record<string, unknown>>;
  /** In seconds from now. Default: an hour. */
  readonly endsInS?: number;
  /** Default: the issuer's current key. */
  readonly signer?: SigningKey;
}

export interface SigningKey {
  readonly alg: string;
  readonly kid: string;
  readonly privateKey: CryptoKey;
  readonly publicKey: CryptoKey;
}

export class TokenIssuer implements AsyncDisposable {
  /** The key set server's answer. `null`: the key set. */
  answer: { readonly status: number; readonly body: string } | null = null;
  /** The number of requests for keys. */
  asked = 0;
  readonly #server = createServer((_, res) => {
    this.asked++;
    void this.#send(res);
  });
  #keys: SigningKey[] = [];

  static async start(alg = "ES256"): Promise<TokenIssuer> {
    const started = new TokenIssuer();
    started.#keys = [await makeKey(alg, "key-1")];
    started.#server.listen(0, "127.0.0.1");
    await once(started.#server, "listening");
    return started;
  }

  get jwksUrl(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/keys`;
  }

  get key(): SigningKey {
    const key = this.#keys.at(-1);
    if (!key) throw new Error("there is no key");
    return key;
  }

  /** The public keys, as the server returns them. */
  async keySet(): Promise<{ keys: JWK[] }> {
    const keys = this.#keys.map(async ({ publicKey, kid, alg }) => ({ ...(await exportJWK(publicKey)), kid, alg }));
    return { keys: await Promise.all(keys) };
  }

  publicPem(): Promise<string> {
    return exportSPKI(this.key.publicKey);
  }

  /** Signs with a new key from now on. The former one is no longer in the set. */
  async rotate(): Promise<void> {
    this.#keys = [await makeKey(this.key.alg, `key-${Number(this.key.kid.slice(4)) + 1}`)];
  }

  async token(user: string, parts: TokenParts = {}): Promise<string> {
    const { claims = {}, header = {}, endsInS = 3_600, signer = this.key } = parts;
    const exp = Math.floor(Date.now() / 1000) + endsInS;
    const all = { iss: issuer, aud: audience, sub: user, exp, ...claims };
    const given = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
    const { alg, kid, privateKey } = signer;
    return await new SignJWT(given).setProtectedHeader({ alg, kid, ...header }).sign(privateKey);
  }

  async #send(res: ServerResponse): Promise<void> {
    res.writeHead(this.answer?.status ?? 200, { "Content-Type": "application/json" });
    res.end(this.answer?.body ?? JSON.stringify(await this.keySet()));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, "close");
  }
}

export async function makeKey(alg: string, kid: string): Promise<SigningKey> {
  return { alg, kid, ...(await generateKeyPair(alg, { extractable: true })) };
}
