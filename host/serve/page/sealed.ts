/** What a browser keeps for the server: texts that only the server can read and make. Any server with the key takes them. */
import { EncryptJWT, errors, jwtDecrypt } from "../jose.ts";

/** `purpose`: a cookie for one purpose is none for another. */
export class Seal {
  readonly #key: Uint8Array;
  readonly #purpose: string;

  constructor(key: Uint8Array, purpose: string) {
    this.#key = key;
    this.#purpose = purpose;
  }

  async close(content: Readonly<Record<string, string>>, endsAtMs: number): Promise<string> {
    return await new EncryptJWT(content)
      .setProtectedHeader({ alg: "dir", enc: "A256GCM" })
      .setAudience(this.#purpose)
      .setExpirationTime(Math.floor(endsAtMs / 1_000))
      .encrypt(this.#key);
  }

  /** `null` for a text that this server, or another with its key, has not made for this purpose, and for one that is too old. */
  async open(text: string): Promise<ReadonlyMap<string, string> | null> {
    try {
      const { payload } = await jwtDecrypt(text, this.#key, {
        keyManagementAlgorithms: ["dir"],
        contentEncryptionAlgorithms: ["A256GCM"],
        audience: this.#purpose,
        requiredClaims: ["exp"],
      });
      return new Map(Object.entries(payload).filter(isText));
    } catch (error) {
      if (error instanceof errors.JOSEError) return null;
      throw error;
    }
  }
}

const isText = (each: [string, unknown]): each is [string, string] => typeof each[1] === "string";
