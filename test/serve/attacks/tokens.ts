/** Tokens that were not issued so, and other ways to bring one. The claims are those of a good token of the victim's. */
import { CompactEncrypt, FlattenedSign } from "jose";

import { readPlan, withHeaders } from "./asking.ts";
import { asAlice, badToken, refused, row } from "./attack.ts";
import type { Attack, Expected } from "./attack.ts";
import { base64url, claimsOf, signed, withOtherS, withPart } from "./forge.ts";
import type { Forge, Header } from "./forge.ts";
import type { Stage, Victim } from "./stage.ts";

type MakeToken = (victim: Victim, stage: Stage) => string | Promise<string>;

/** The token as the value of the header; `make` makes all that stands behind the scheme. */
const token = (title: string, expected: Expected, make: MakeToken): Attack =>
  authorization(title, expected, async (victim, stage) => `Bearer ${await make(victim, stage)}`);

const authorization = (title: string, expected: Expected, make: MakeToken): Attack =>
  row(title, expected, async (victim, stage) => withHeaders(readPlan, ["Authorization", await make(victim, stage)]));

const unsigned =
  (alg: string): MakeToken =>
  ({ userId }) =>
    signed({ alg }, claimsOf(userId), () => "");

const withHeader =
  (header: Header): MakeToken =>
  ({ userId }, { forge }) =>
    forge.forged(claimsOf(userId), header);

const pemOf = (forge: Forge, type: "spki" = "spki"): string =>
  forge.rsa.publicKey.export({ type, format: "pem" }).toString();

const anonymous = { ...readPlan, isAnonymous: true } as const;

const tampered =
  (at: 0 | 1 | 2, change: (part: string) => string): MakeToken =>
  (_victim, { alice }) =>
    withPart(alice.token, at, change(alice.token.split(".")[at] ?? ""));

/** The bits of a signature, of which one is turned. */
const turned =
  (bit: number): ((part: string) => string) =>
  (part) => {
    const bytes = Buffer.from(part, "base64url");
    bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) ^ (1 << (bit & 7));
    return base64url(bytes);
  };

const missing = badToken("token-missing");
const malformed = badToken("token-malformed");
const signature = badToken("token-signature");
const algorithm = badToken("token-algorithm");
const unknownKey = badToken("token-key");

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

const forms: Attack[] = [
  token("crit that is understood", malformed, ({ userId }, { forge }) =>
    forge.forged(claimsOf(userId), { crit: ["exp"], exp: 1 }),
  ),
  token("crit that nobody knows", malformed, ({ userId }, { forge }) =>
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
  token("a header that is no JSON", malformed, (_victim, { alice }) => withPart(alice.token, 0, base64url("ES256"))),
  token("a header that is a list", malformed, (_victim, { alice }) => withPart(alice.token, 0, base64url("[]"))),
  token("two alg in the header", signature, ({ userId }, { alice, forge }) =>
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
    signature,
    tampered(1, (part) => part.slice(0, -4)),
  ),
  token("the other signature that ECDSA has for alice's claims", asAlice, (_victim, { alice }) =>
    withOtherS(alice.token),
  ),
];

const headerValues: Attack[] = [
  row("no token", missing, () => anonymous),
  authorization("an empty header", missing, () => ""),
  authorization("a scheme alone", malformed, () => "Bearer"),
  authorization("another scheme", missing, ({ expiredToken }) => `Token ${expiredToken}`),
  authorization(
    "a password",
    missing,
    ({ userId }) => `Basic ${Buffer.from(`${userId}:${userId}`).toString("base64")}`,
  ),
  token("garbage", malformed, () => "garbage"),
  token("two dots", malformed, () => ".."),
  token("the victim's, expired", badToken("token-expired"), ({ expiredToken }) => expiredToken),
  token(
    "alice's, then the victim's",
    malformed,
    ({ expiredToken }, { alice }) => `${alice.token}, Bearer ${expiredToken}`,
  ),
  token(
    "alice's and the victim's, with a comma",
    malformed,
    ({ expiredToken }, { alice }) => `${alice.token},${expiredToken}`,
  ),
  token("four parts", malformed, ({ userId }, { alice }) => `${alice.token}.${base64url(userId)}`),
  token("a space in it", malformed, (_victim, { alice }) => alice.token.replace(".", ". ")),
  token("a second space before it", malformed, (_victim, { alice }) => ` ${alice.token}`),
  token("a tab before it", malformed, (_victim, { alice }) => `\t${alice.token}`),
  token("in quotes", malformed, (_victim, { alice }) => `"${alice.token}"`),
  token("with padding", malformed, (_victim, { alice }) => `${alice.token}==`),
  token("percent-encoded dots", malformed, (_victim, { alice }) => alice.token.replaceAll(".", "%2E")),
  token("too long", malformed, (_victim, { alice }) => `${alice.token}${"A".repeat(9_000)}`),
  token("with NUL behind it", refused(400, "http-malformed", "nobody"), (_victim, { alice }) => `${alice.token}\0`),
  authorization("the scheme in lower case", asAlice, (_victim, { alice }) => `bearer ${alice.token}`),
  token("with spaces behind it", asAlice, (_victim, { alice }) => `${alice.token}  `),
];

const otherPlaces: Attack[] = [
  row("in the query", refused(404, "query-present", "nobody"), ({ expiredToken }) => ({
    ...anonymous,
    target: `/mcp?access_token=${expiredToken}`,
  })),
  row("in the query, beside alice's", refused(404, "query-present", "nobody"), ({ expiredToken }) => ({
    ...readPlan,
    target: `/mcp?access_token=${expiredToken}`,
  })),
  row("in a form", refused(415, "body-type"), ({ expiredToken }) =>
    withHeaders({ ...readPlan, body: `access_token=${expiredToken}` }, [
      "Content-Type",
      "application/x-www-form-urlencoded",
    ]),
  ),
  row("in a cookie", missing, ({ expiredToken }) =>
    withHeaders(anonymous, ["Cookie", `token=${expiredToken}; access_token=${expiredToken}`]),
  ),
  row("in a cookie, beside alice's", asAlice, ({ expiredToken }) =>
    withHeaders(readPlan, ["Cookie", `Authorization=Bearer ${expiredToken}`]),
  ),
  row("as a protocol of WebSocket", missing, ({ expiredToken }) =>
    withHeaders(anonymous, ["Sec-WebSocket-Protocol", `bearer, ${expiredToken}`]),
  ),
  row("alice's as a protocol of WebSocket", missing, (_victim, { alice }) =>
    withHeaders(anonymous, ["Sec-WebSocket-Protocol", `bearer, ${alice.token}`]),
  ),
  row("alice's for a proxy", missing, (_victim, { alice }) =>
    withHeaders(anonymous, ["Proxy-Authorization", `Bearer ${alice.token}`]),
  ),
  row("alice's in a header of proxies", missing, (_victim, { alice }) =>
    withHeaders(anonymous, ["X-Forwarded-Authorization", `Bearer ${alice.token}`], ["X-Access-Token", alice.token]),
  ),
  row("the victim's in the message", refused(400, "mcp-400"), ({ expiredToken }) => ({
    ...readPlan,
    body: String(readPlan.body).replace('"jsonrpc"', `"access_token":"${expiredToken}","jsonrpc"`),
  })),
];

export const tokenAttacks: readonly Attack[] = [
  ...unsignedTokens,
  ...wrongKeys,
  ...broughtKeys,
  ...forms,
  ...signatures,
  ...headerValues,
  ...otherPlaces,
];
