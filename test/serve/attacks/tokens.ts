/** Tokens without a signature, with other keys or forms, tampered with, and sent in odd places. */
import { CompactEncrypt, FlattenedSign } from "jose";

import { readPlan, withHeaders } from "./asking.ts";
import type { Ask } from "./asking.ts";
import { asAlice, refused, refusedBySdk, row } from "./attack.ts";
import type { Attack, Expected } from "./attack.ts";
import { base64url, claimsOf, signed, withOtherS, withPart } from "./forge.ts";
import type { Forge, Header } from "./forge.ts";
import type { Scene } from "./stage.ts";

type MakeToken = (scene: Scene) => string | Promise<string>;

/** `make` returns what follows the scheme. */
const token = (title: string, expected: Expected, make: MakeToken): Attack =>
  row(title, expected, async (scene) => withHeaders(readPlan, ["Authorization", `Bearer ${await make(scene)}`]));

/** The victim's claims with an attacker's signature, and this header. */
const forged = (title: string, expected: Expected, header: Header): Attack =>
  token(title, expected, ({ userId, forge }) => forge.forged(claimsOf(userId), header));

const missing = refused("token-missing");
const malformed = refused("token-malformed");
const signature = refused("token-signature");
const algorithm = refused("token-algorithm");
const unknownKey = refused("token-key");
const wrongType = refused("token-type");

const unsigned =
  (header: Header): MakeToken =>
  ({ userId }) =>
    signed(header, claimsOf(userId), () => "");

const pemOf = ({ rsa }: Forge): string => rsa.publicKey.export({ type: "spki", format: "pem" }).toString();
const der = { type: "spki", format: "der" } as const;

const wrongKeys: Attack[] = [
  ...["none", "None", "NONE", "nOnE"].map((alg) => token(`alg ${alg}`, algorithm, unsigned({ alg }))),
  token("alg none, with alice's signature", algorithm, ({ userId, alice }) =>
    signed({ alg: "none" }, claimsOf(userId), () => Buffer.from(alice.token.split(".")[2] ?? "", "base64url")),
  ),
  token("an empty alg", malformed, unsigned({ alg: "" })),
  token("no alg at all", malformed, unsigned({ typ: "JWT" })),
  token("alg is a list", malformed, unsigned({ alg: ["ES256", "none"] })),
  token("HS256 with the public key's PEM", algorithm, ({ userId, forge }) =>
    forge.hmac(claimsOf(userId), pemOf(forge)),
  ),
  token("HS256 with the public key's DER", algorithm, ({ userId, forge }) =>
    forge.hmac(claimsOf(userId), forge.ec.publicKey.export(der)),
  ),
  token("HS256 with the key set", algorithm, async ({ userId, forge }) =>
    forge.hmac(claimsOf(userId), await forge.keySet()),
  ),
  token("HS256 with nothing", algorithm, ({ userId, forge }) => forge.hmac(claimsOf(userId), "")),
  token("HS512, with the kid of an RSA key", algorithm, ({ userId, forge }) =>
    forge.hmac(claimsOf(userId), pemOf(forge), { alg: "HS512", kid: "rsa" }),
  ),
  forged("another's key under the issuer's kid", signature, {}),
  forged("no kid, another's key", signature, { kid: undefined }),
  ...["mine", "../../../../dev/null", "x' UNION SELECT 'AAAA", "__proto__"].map((kid) =>
    forged(`the kid ${kid}`, unknownKey, { kid }),
  ),
  token("kid is a URL", unknownKey, ({ userId, forge, trapUrl }) => forge.forged(claimsOf(userId), { kid: trapUrl })),
  token("RS256 with the kid of an EC key", unknownKey, ({ userId, forge }) =>
    forge.rsaSigned(claimsOf(userId), { alg: "RS256", kid: "ec" }),
  ),
  token("PS256 with an RS256 key", algorithm, ({ userId, forge }) =>
    forge.rsaSigned(claimsOf(userId), { alg: "PS256", kid: "rsa" }, true),
  ),
  token("RS256 that is signed as PS256", signature, ({ userId, forge }) =>
    forge.rsaSigned(claimsOf(userId), { alg: "RS256", kid: "rsa" }, true),
  ),
  ...["ES384", "ES256K", "es256"].map((alg) => forged(`alg ${alg} with a P-256 key`, algorithm, { alg })),
];

/** Keys that a token brings along, or says where to fetch. */
const broughtKeys: readonly (readonly [string, Expected, (scene: Scene) => Header])[] = [
  ["an embedded jwk", signature, ({ forge }) => ({ jwk: forge.otherEc.publicKey.export({ format: "jwk" }) })],
  [
    "an embedded jwk under a kid of its own",
    unknownKey,
    ({ forge }) => ({ kid: "own", jwk: { ...forge.otherEc.publicKey.export({ format: "jwk" }), kid: "own" } }),
  ],
  ["jku of an attacker's server", signature, ({ trapUrl }) => ({ jku: trapUrl })],
  ["jku under an unknown kid", unknownKey, ({ trapUrl }) => ({ kid: "own", jku: trapUrl })],
  ["x5u of an attacker's server", signature, ({ trapUrl }) => ({ x5u: trapUrl })],
  [
    "x5c with an attacker's key",
    signature,
    ({ forge }) => ({ x5c: [forge.otherEc.publicKey.export(der).toString("base64")] }),
  ],
];

export const tokenKeyAttacks: readonly Attack[] = [
  ...wrongKeys,
  ...broughtKeys.map(([title, expected, header]) =>
    token(title, expected, (scene) => scene.forge.forged(claimsOf(scene.userId), header(scene))),
  ),
];

/** Part 0 of alice's token is the header, 1 the payload, 2 the signature. */
const tampered = (title: string, expected: Expected, at: 0 | 1 | 2, change: (part: string) => string): Attack =>
  token(title, expected, ({ alice }) => withPart(alice.token, at, change(alice.token.split(".")[at] ?? "")));

/** Turns one bit. */
const turned =
  (bit: number): ((part: string) => string) =>
  (part) => {
    const bytes = Buffer.from(part, "base64url");
    bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) ^ (1 << (bit & 7));
    return base64url(bytes);
  };

const withoutEnd = (part: string): string => part.slice(0, -4);

export const tokenFormAttacks: readonly Attack[] = [
  forged("a known crit", malformed, { crit: ["exp"], exp: 1 }),
  forged("an unknown crit", malformed, { crit: ["bob"], bob: 1 }),
  forged("b64 false", malformed, { b64: false, crit: ["b64"] }),
  forged("b64 false, without crit", malformed, { b64: false }),
  forged("a compressed payload", signature, { zip: "DEF" }),
  forged("a logout token", wrongType, { typ: "logout+jwt" }),
  forged("typ is a list", wrongType, { typ: ["JWT"] }),
  forged("typ is a number", wrongType, { typ: 7 }),
  token(
    "encrypted to the server's key",
    malformed,
    async ({ userId, forge }) =>
      await new CompactEncrypt(Buffer.from(JSON.stringify(claimsOf(userId))))
        .setProtectedHeader({ alg: "RSA-OAEP-256", enc: "A256GCM" })
        .encrypt(forge.rsa.publicKey),
  ),
  token("JSON serialisation", malformed, async ({ userId, forge }) => {
    const claims = new FlattenedSign(Buffer.from(JSON.stringify(claimsOf(userId))));
    return JSON.stringify(await claims.setProtectedHeader({ alg: "ES256" }).sign(forge.otherEc.privateKey));
  }),
  tampered("a detached payload", malformed, 1, () => ""),
  tampered("a header that is not JSON", malformed, 0, () => base64url("ES256")),
  tampered("a header that is a list", malformed, 0, () => base64url("[]")),
  token("two alg in the header", malformed, ({ userId, alice, forge }) => {
    const [, payload = ""] = forge.issued(claimsOf(userId)).split(".");
    return withPart(withPart(alice.token, 0, base64url('{"alg":"none","alg":"ES256","kid":"ec"}')), 1, payload);
  }),
  token("alice's signature under the victim's claims", signature, ({ userId, alice }) =>
    withPart(alice.token, 1, base64url(JSON.stringify(claimsOf(userId)))),
  ),
  token("a signature of zeros", signature, ({ userId }) =>
    signed({ alg: "ES256", kid: "ec" }, claimsOf(userId), () => Buffer.alloc(64)),
  ),
  token("no signature", signature, unsigned({ alg: "ES256", kid: "ec" })),
  token("a signature in DER", signature, ({ forge }) => forge.derSigned(claimsOf("alice"))),
  ...[0, 255, 256, 511].map((bit) => tampered(`bit ${bit} of alice's signature turned`, signature, 2, turned(bit))),
  tampered("alice's signature truncated", signature, 2, withoutEnd),
  tampered("alice's signature extended", signature, 2, (part) => `${part}AAAA`),
  tampered("alice's payload truncated", malformed, 1, withoutEnd),
  token("the other signature that ECDSA has for alice's claims", asAlice, ({ alice }) => withOtherS(alice.token)),
];

const anonymous: Ask = { ...readPlan, isAnonymous: true };

/** The value of the header `Authorization`. */
const headerValues: readonly (readonly [title: string, Expected, value: string])[] = [
  ["an empty header", missing, ""],
  ["a scheme alone", malformed, "Bearer"],
  ["another scheme", missing, "Token $expired"],
  ["a password", missing, "Basic Ym9iOmJvYg=="],
  ["garbage", malformed, "Bearer garbage"],
  ["two dots", malformed, "Bearer .."],
  ["the victim's, expired", refused("token-expired"), "Bearer $expired"],
  ["alice's, then the victim's", malformed, "Bearer $alice, Bearer $expired"],
  ["alice's and the victim's, with a comma", malformed, "Bearer $alice,$expired"],
  ["four parts", malformed, "Bearer $alice.$user"],
  ["a space in it", malformed, "Bearer x$alice. y"],
  ["a second space before it", malformed, "Bearer  $alice"],
  ["a tab before it", malformed, "Bearer \t$alice"],
  ["in quotes", malformed, 'Bearer "$alice"'],
  ["with padding", malformed, "Bearer $alice=="],
  ["too long", malformed, `Bearer $alice${"A".repeat(9_000)}`],
  ["with NUL after it", refused("http-malformed"), "Bearer $alice\0"],
  ["the scheme in lower case", asAlice, "bearer $alice"],
  ["with spaces after it", asAlice, "Bearer $alice  "],
];

const otherPlaces: readonly (readonly [title: string, Expected, name: string, value: string])[] = [
  ["in a cookie", missing, "Cookie", "token=$expired; access_token=$expired"],
  ["as a protocol of WebSocket", missing, "Sec-WebSocket-Protocol", "bearer, $expired"],
  ["alice's as a protocol of WebSocket", missing, "Sec-WebSocket-Protocol", "bearer, $alice"],
  ["alice's for a proxy", missing, "Proxy-Authorization", "Bearer $alice"],
  ["alice's in a header of proxies", missing, "X-Forwarded-Authorization", "Bearer $alice"],
  ["alice's in a header of programs", missing, "X-Access-Token", "$alice"],
];

const queried = refused("query-present");
const form = ["Content-Type", "application/x-www-form-urlencoded"] as const;

export const tokenPlaceAttacks: readonly Attack[] = [
  row("no token", missing, anonymous),
  ...headerValues.map(([title, expected, value]) =>
    row(title, expected, withHeaders(readPlan, ["Authorization", value])),
  ),
  token("percent-encoded dots", malformed, ({ alice }) => alice.token.replaceAll(".", "%2E")),
  ...otherPlaces.map(([title, expected, name, value]) => row(title, expected, withHeaders(anonymous, [name, value]))),
  row("in the query", queried, { ...anonymous, target: "/mcp?access_token=$expired" }),
  row("in the query, beside alice's", queried, { ...readPlan, target: "/mcp?access_token=$expired" }),
  row("in a form", refused("body-type", "alice"), withHeaders({ ...readPlan, body: "access_token=$expired" }, form)),
  row("in a cookie, beside alice's", asAlice, withHeaders(readPlan, ["Cookie", "Authorization=Bearer $expired"])),
  row("the victim's in the message", refusedBySdk(400), {
    ...readPlan,
    body: String(readPlan.body).replace('"jsonrpc"', '"access_token":"$expired","jsonrpc"'),
  }),
];
