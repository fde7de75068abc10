/** Tokens without a signature, with other keys, and with keys that they bring along. The claims are the victim's. */
import type { Attack } from "./attack.ts";
import { claimsOf, signed } from "./forge.ts";
import type { Forge } from "./forge.ts";
import { algorithm, malformed, signature, token, unknownKey, withHeader } from "./token-rows.ts";
import type { MakeToken } from "./token-rows.ts";

const unsigned =
  (alg: string): MakeToken =>
  ({ userId }) =>
    signed({ alg }, claimsOf(userId), () => "");

const pemOf = ({ rsa }: Forge): string => rsa.publicKey.export({ type: "spki", format: "pem" }).toString();

const unsignedTokens: Attack[] = [
  ...["none", "None", "NONE", "nOnE"].map((alg) => token(`alg ${JSON.stringify(alg)}`, algorithm, unsigned(alg))),
  token("alg none, with alice's signature", algorithm, ({ userId }, { alice }) =>
    signed({ alg: "none" }, claimsOf(userId), () => Buffer.from(alice.token.split(".")[2] ?? "", "base64url")),
  ),
  token("an empty alg", malformed, unsigned("")),
  token("no alg at all", malformed, ({ userId }) => signed({ typ: "JWT" }, claimsOf(userId), () => "")),
  token("alg is a list", malformed, ({ userId }) => signed({ alg: ["ES256", "none"] }, claimsOf(userId), () => "")),
];

const wrongKeys: Attack[] = [
  token("HS256 with the public key's PEM", algorithm, ({ userId }, { forge }) =>
    forge.hmac(claimsOf(userId), pemOf(forge)),
  ),
  token("HS256 with the public key's DER", algorithm, ({ userId }, { forge }) =>
    forge.hmac(claimsOf(userId), forge.ec.publicKey.export({ type: "spki", format: "der" })),
  ),
  token("HS256 with the key set", algorithm, async ({ userId }, { forge }) =>
    forge.hmac(claimsOf(userId), await forge.keySet()),
  ),
  token("HS256 with nothing", algorithm, ({ userId }, { forge }) => forge.hmac(claimsOf(userId), "")),
  token("HS512, with the kid of an RSA key", algorithm, ({ userId }, { forge }) =>
    forge.hmac(claimsOf(userId), pemOf(forge), { alg: "HS512", kid: "rsa" }),
  ),
  token("another's key under the issuer's kid", signature, withHeader({})),
  token("an unknown kid", unknownKey, withHeader({ kid: "mine" })),
  token("no kid, another's key", signature, withHeader({ kid: undefined })),
  token("kid is a path", unknownKey, withHeader({ kid: "../../../../dev/null" })),
  token("kid is a URL", unknownKey, ({ userId }, { forge, trap }) => forge.forged(claimsOf(userId), { kid: trap.url })),
  token("kid is a query", unknownKey, withHeader({ kid: "x' UNION SELECT 'AAAA" })),
  token("kid is __proto__", unknownKey, withHeader({ kid: "__proto__" })),
  token("RS256 with the kid of an EC key", unknownKey, ({ userId }, { forge }) =>
    forge.rsaSigned(claimsOf(userId), { alg: "RS256", kid: "ec" }),
  ),
  token("PS256 with an RS256 key", algorithm, ({ userId }, { forge }) =>
    forge.rsaSigned(claimsOf(userId), { alg: "PS256", kid: "rsa" }, true),
  ),
  token("RS256 that is signed as PS256", signature, ({ userId }, { forge }) =>
    forge.rsaSigned(claimsOf(userId), { alg: "RS256", kid: "rsa" }, true),
  ),
  token("ES384 with a P-256 key", algorithm, withHeader({ alg: "ES384" })),
  token("ES256K", algorithm, withHeader({ alg: "ES256K" })),
  token("alg in lower case", algorithm, withHeader({ alg: "es256" })),
];

const broughtKeys: Attack[] = [
  token("an embedded jwk", signature, ({ userId }, { forge }) =>
    forge.forged(claimsOf(userId), { jwk: forge.otherEc.publicKey.export({ format: "jwk" }) }),
  ),
  token("an embedded jwk under a kid of its own", unknownKey, ({ userId }, { forge }) =>
    forge.forged(claimsOf(userId), {
      kid: "own",
      jwk: { ...forge.otherEc.publicKey.export({ format: "jwk" }), kid: "own" },
    }),
  ),
  token("jku of an attacker's server", signature, ({ userId }, { forge, trap }) =>
    forge.forged(claimsOf(userId), { jku: trap.url }),
  ),
  token("jku under an unknown kid", unknownKey, ({ userId }, { forge, trap }) =>
    forge.forged(claimsOf(userId), { kid: "own", jku: trap.url }),
  ),
  token("x5u of an attacker's server", signature, ({ userId }, { forge, trap }) =>
    forge.forged(claimsOf(userId), { x5u: trap.url }),
  ),
  token("x5c with an attacker's key", signature, ({ userId }, { forge }) =>
    forge.forged(claimsOf(userId), {
      x5c: [forge.otherEc.publicKey.export({ type: "spki", format: "der" }).toString("base64")],
    }),
  ),
];

export const tokenKeyAttacks: readonly Attack[] = [...unsignedTokens, ...wrongKeys, ...broughtKeys];
