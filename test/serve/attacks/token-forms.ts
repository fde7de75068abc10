/** Tokens in other forms than signed JWTs, and tokens that were tampered with. */
import { CompactEncrypt, FlattenedSign } from "jose";

import { asAlice, badToken } from "./attack.ts";
import type { Attack } from "./attack.ts";
import { base64url, claimsOf, signed, withOtherS, withPart } from "./forge.ts";
import { malformed, signature, token, withHeader } from "./token-rows.ts";
import type { MakeToken } from "./token-rows.ts";

const tampered =
  (at: 0 | 1 | 2, change: (part: string) => string): MakeToken =>
  (_victim, { alice }) =>
    withPart(alice.token, at, change(alice.token.split(".")[at] ?? ""));

/** Flips one bit. */
const turned =
  (bit: number): ((part: string) => string) =>
  (part) => {
    const bytes = Buffer.from(part, "base64url");
    bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) ^ (1 << (bit & 7));
    return base64url(bytes);
  };

const forms: Attack[] = [
  token("a known crit", malformed, ({ userId }, { forge }) =>
    forge.forged(claimsOf(userId), { crit: ["exp"], exp: 1 }),
  ),
  token("an unknown crit", malformed, ({ userId }, { forge }) =>
    forge.forged(claimsOf(userId), { crit: ["bob"], bob: 1 }),
  ),
  token("b64 false", malformed, ({ userId }, { forge }) =>
    forge.forged(claimsOf(userId), { b64: false, crit: ["b64"] }),
  ),
  token("b64 false, without crit", malformed, ({ userId }, { forge }) =>
    forge.forged(claimsOf(userId), { b64: false }),
  ),
  token("a compressed payload", signature, withHeader({ zip: "DEF" })),
  token("a logout token", badToken("token-type"), withHeader({ typ: "logout+jwt" })),
  token("typ is a list", badToken("token-type"), withHeader({ typ: ["JWT"] })),
  token(
    "encrypted to the server's key",
    malformed,
    async ({ userId }, { forge }) =>
      await new CompactEncrypt(Buffer.from(JSON.stringify(claimsOf(userId))))
        .setProtectedHeader({ alg: "RSA-OAEP-256", enc: "A256GCM" })
        .encrypt(forge.rsa.publicKey),
  ),
  token("JSON serialisation", malformed, async ({ userId }, { forge }) =>
    JSON.stringify(
      await new FlattenedSign(Buffer.from(JSON.stringify(claimsOf(userId))))
        .setProtectedHeader({ alg: "ES256" })
        .sign(forge.otherEc.privateKey),
    ),
  ),
  token("a detached payload", malformed, (_victim, { alice }) => withPart(alice.token, 1, "")),
  token("a header that is not JSON", malformed, (_victim, { alice }) => withPart(alice.token, 0, base64url("ES256"))),
  token("a header that is a list", malformed, (_victim, { alice }) => withPart(alice.token, 0, base64url("[]"))),
  token("two alg in the header", malformed, ({ userId }, { alice, forge }) =>
    withPart(
      withPart(alice.token, 0, base64url('{"alg":"none","alg":"ES256","kid":"ec"}')),
      1,
      forge.issued(claimsOf(userId)).split(".")[1] ?? "",
    ),
  ),
];

const signatures: Attack[] = [
  token("alice's signature under the victim's claims", signature, ({ userId }, { alice }) =>
    withPart(alice.token, 1, base64url(JSON.stringify(claimsOf(userId)))),
  ),
  token("a signature of zeros", signature, ({ userId }) =>
    signed({ alg: "ES256", kid: "ec" }, claimsOf(userId), () => Buffer.alloc(64)),
  ),
  token("no signature", signature, ({ userId }) => signed({ alg: "ES256", kid: "ec" }, claimsOf(userId), () => "")),
  token("a signature in DER", signature, (_victim, { forge }) => forge.derSigned(claimsOf("alice"))),
  ...[0, 255, 256, 511].map((bit) =>
    token(`bit ${bit} of alice's signature turned`, signature, tampered(2, turned(bit))),
  ),
  token(
    "alice's signature truncated",
    signature,
    tampered(2, (part) => part.slice(0, -4)),
  ),
  token(
    "alice's signature extended",
    signature,
    tampered(2, (part) => `${part}AAAA`),
  ),
  token(
    "alice's payload truncated",
    malformed,
    tampered(1, (part) => part.slice(0, -4)),
  ),
  token("the other signature that ECDSA has for alice's claims", asAlice, (_victim, { alice }) =>
    withOtherS(alice.token),
  ),
];

export const tokenFormAttacks: readonly Attack[] = [...forms, ...signatures];
