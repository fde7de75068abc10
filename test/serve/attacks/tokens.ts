/** Tokens that the issuer has not signed, or for other servers, times or users, and tokens sent in odd places. */
import { createHmac } from "node:crypto";

import { audience, issuer } from "../../stage/token-issuer.ts";
import { readPlan, withHeaders } from "./asking.ts";
import type { Ask } from "./asking.ts";
import { asAlice, refused, refusedBySdk, row, served } from "./attack.ts";
import type { Attack, Expected } from "./attack.ts";
import { base64url, claimsOf, signed, usual, withPart } from "./forge.ts";
import type { Claims, Header } from "./forge.ts";
import type { Scene } from "./stage.ts";

type MakeToken = (scene: Scene) => string | Promise<string>;

/** `make` returns what follows the scheme. */
const token = (title: string, expected: Expected, make: MakeToken): Attack =>
  row(title, expected, async (scene) => withHeaders(readPlan, ["Authorization", `Bearer ${await make(scene)}`]));

/** The victim's claims with an attacker's signature, and this header. */
const forged = (title: string, expected: Expected, header: Header | ((scene: Scene) => Header)): Attack =>
  token(title, expected, (scene) =>
    scene.forge.forged(claimsOf(scene.userId), typeof header === "function" ? header(scene) : header),
  );

/** The victim's claims without a signature. */
const unsigned = (title: string, expected: Expected, header: Header): Attack =>
  token(title, expected, ({ userId }) => signed(header, claimsOf(userId), () => ""));

/** Alice's token with a part changed. */
const tampered = (title: string, expected: Expected, at: 0 | 1 | 2, change: (part: string) => string): Attack =>
  token(title, expected, ({ alice }) => withPart(alice.token, at, change));

const missing = refused("token-missing");
const malformed = refused("token-malformed");
const signature = refused("token-signature");
const algorithm = refused("token-algorithm");
const unknownKey = refused("token-key");
const wrongType = refused("token-type");
const expired = refused("token-expired");

const embedded = ({ forge }: Scene): object => forge.own.publicKey.export({ format: "jwk" });

const forgeries: Attack[] = [
  unsigned("alg none", algorithm, { alg: "none" }),
  unsigned("alg nOnE", algorithm, { alg: "nOnE" }),
  unsigned("alg ES256 and no signature", signature, usual),
  unsigned("no alg", malformed, { typ: "JWT" }),
  unsigned("alg is a list", malformed, { alg: ["ES256", "none"] }),
  token("HS256 with the public key", algorithm, async ({ userId, forge }) => {
    const key = await forge.publicPem();
    const header = { ...usual, alg: "HS256" };
    return signed(header, claimsOf(userId), (text) => createHmac("sha256", key).update(text).digest());
  }),
  forged("RS256 with the kid of an EC key", unknownKey, { alg: "RS256" }),
  forged("another's key under the issuer's kid", signature, {}),
  forged("another's key without a kid", signature, { kid: undefined }),
  ...["mine", "../../../../dev/null", "__proto__"].map((kid) => forged(`the kid ${kid}`, unknownKey, { kid })),
  forged("kid is a URL", unknownKey, ({ trapUrl }) => ({ kid: trapUrl })),
  // Keys that a token brings along, or says where to fetch.
  forged("an embedded jwk", signature, (scene) => ({ jwk: embedded(scene) })),
  forged("jku of an attacker's server", signature, ({ trapUrl }) => ({ jku: trapUrl })),
  forged("jku under an unknown kid", unknownKey, ({ trapUrl }) => ({ kid: "own", jku: trapUrl })),
  forged("x5u of an attacker's server", signature, ({ trapUrl }) => ({ x5u: trapUrl })),
  forged("x5c with an attacker's key", signature, ({ forge }) => ({
    x5c: [forge.own.publicKey.export({ type: "spki", format: "der" }).toString("base64")],
  })),
  forged("a known crit", malformed, { crit: ["exp"], exp: 1 }),
  forged("b64 false, without crit", malformed, { b64: false }),
  forged("a compressed payload", signature, { zip: "DEF" }),
  forged("a logout token", wrongType, { typ: "logout+jwt" }),
  forged("typ is a list", wrongType, { typ: ["JWT"] }),
  tampered("no payload", malformed, 1, () => ""),
  tampered("a header that is not JSON", malformed, 0, () => base64url("ES256")),
  tampered("two alg in the header", malformed, 0, () => base64url('{"alg":"none","alg":"ES256","kid":"key-1"}')),
  token("alice's signature under the victim's claims", signature, ({ userId, alice }) =>
    withPart(alice.token, 1, () => base64url(JSON.stringify(claimsOf(userId)))),
  ),
  token("a signature in DER", signature, ({ forge }) => forge.issued(claimsOf("alice"), "der")),
  tampered("alice's signature extended", signature, 2, (part) => `${part}AAAA`),
  tampered("alice's payload truncated", malformed, 1, (part) => part.slice(0, -4)),
];

const anonymous: Ask = { ...readPlan, isAnonymous: true };

/** The value of the header `Authorization`. */
const headerValues: readonly (readonly [title: string, Expected, value: string])[] = [
  ["an empty header", missing, ""],
  ["a scheme alone", malformed, "Bearer"],
  ["another scheme", missing, "Token $expired"],
  ["the victim's, expired", expired, "Bearer $expired"],
  ["alice's, then the victim's", malformed, "Bearer $alice, Bearer $expired"],
  ["four parts", malformed, "Bearer $alice.$user"],
  ["with padding", malformed, "Bearer $alice=="],
  ["too long", malformed, `Bearer $alice${"A".repeat(9_000)}`],
  ["with NUL after it", refused("http-malformed"), "Bearer $alice\0"],
  ["the scheme in lower case", asAlice, "bearer $alice"],
  ["with spaces after it", asAlice, "Bearer $alice  "],
  ["with spaces before it", asAlice, "Bearer   $alice"],
  ["with a tab before it", asAlice, "BEARER\t $alice"],
  ["with another space before it", malformed, "Bearer \u00a0$alice"],
  ["in quotation marks", malformed, 'Bearer "$alice"'],
];

const otherPlaces: readonly (readonly [title: string, name: string, value: string])[] = [
  ["in a cookie", "Cookie", "token=$expired; access_token=$expired"],
  ["alice's as a protocol of WebSocket", "Sec-WebSocket-Protocol", "bearer, $alice"],
  ["alice's for a proxy", "Proxy-Authorization", "Bearer $alice"],
];

const queried = refused("query-present");

export const tokenAttacks: readonly Attack[] = [
  ...forgeries,
  row("no token", missing, anonymous),
  ...headerValues.map(([title, expected, value]) =>
    row(title, expected, withHeaders(readPlan, ["Authorization", value])),
  ),
  ...otherPlaces.map(([title, name, value]) => row(title, missing, withHeaders(anonymous, [name, value]))),
  row("in the query", queried, { ...anonymous, target: "/mcp?access_token=$expired" }),
  row("the victim's in the message", refusedBySdk(400), {
    ...readPlan,
    body: String(readPlan.body).replace('"jsonrpc"', '"access_token":"$expired","jsonrpc"'),
  }),
];

/** A token of the issuer with these claims. A text is the raw payload. */
const claims = (title: string, expected: Expected, make: (userId: string) => Claims | string | Buffer): Attack =>
  token(title, expected, ({ forge, userId }) => forge.issued(make(userId)));

/** A valid token of the victim with some claims changed. */
const but = (title: string, expected: Expected, changed: Claims): Attack =>
  claims(title, expected, (userId) => ({ ...claimsOf(userId), ...changed }));

const hourS = 3_600;
const nowS = Math.floor(Date.now() / 1000);
const wrongClaim = refused("token-claim");

const times: Attack[] = [
  but("expired an hour ago", expired, { exp: nowS - hourS }),
  but("valid in an hour", refused("token-not-yet-valid"), { nbf: nowS + hourS }),
  but("valid from a text", wrongClaim, { nbf: "0" }),
  but("without an expiry", wrongClaim, { exp: undefined }),
  but("until a text", wrongClaim, { exp: String(nowS + hourS) }),
  // JSON.stringify cannot write it.
  claims("until an infinite number", wrongClaim, (userId) =>
    JSON.stringify({ ...claimsOf(userId), exp: "(here)" }).replace('"(here)"', "1e400"),
  ),
];

const issuers = ["https://evil.example", undefined, [issuer], `${issuer}.evil.example`, `${issuer}/`];
const audiences = [
  ["https://other.example", null, "", `${audience}/admin`, { [audience]: true }],
  [["https://other.example", "*"], [[audience]]],
].flat();

const noAudience = refused("token-audience-missing");

/** `$user` is the victim. */
const noUsers = [
  [undefined, 0, null, "", " ", ["$user"], { id: "$user", toString: "$user" }, "../$user", "..\\$user", ".."],
  ["$user\0", "$user\n", "$user ", "$user\u00a0", "$user\ud800", "$user".padEnd(131, "x")],
].flat();

const named = (sub: unknown, userId: string): Claims =>
  JSON.parse(JSON.stringify(claimsOf(sub)).replaceAll("$user", userId)) as Claims;

/** User names that resemble the victim's. The server serves such a user, who is somebody else and has no entries. */
const likenesses: Readonly<Record<string, (userId: string) => string>> = {
  "the victim in capitals": (userId) => userId.toUpperCase(),
  "the victim, percent-encoded": (userId) => `%${userId.charCodeAt(0).toString(16)}${userId.slice(1)}`,
  "the victim with a full-width letter": (userId) =>
    String.fromCodePoint(userId.charCodeAt(0) + 0xfee0) + userId.slice(1),
  "the victim with a soft hyphen": (userId) => `${userId}\u00ad`,
  "the victim and a colon": (userId) => `${userId}::$DATA`,
  ["__proto__"]: () => "__proto__",
};

const stranger = served(200, ["call ReadUserMemory (another) ENTRY_NOT_FOUND"], "ENTRY_NOT_FOUND");
const userClaims = ["user_id", "username", "email", "client_id", "Sub", "act"];

const textOf = (userId: string): string => JSON.stringify(claimsOf(userId));
/** A payload with two users. */
const twice = (first: string, last: string): string => textOf(first).replace(/}$/, `,"sub":${JSON.stringify(last)}}`);

/** Payloads that are malformed. */
const payloads: Readonly<Record<string, (userId: string) => string | Buffer>> = {
  "sub twice, the victim last": (userId) => twice("alice", userId),
  "sub twice, once in escapes": (userId) => twice("alice", userId).replace('"sub"', '"\\u0073ub"'),
  "the user as a prototype": (userId) => textOf("x").replace("{", `{"__proto__":{"sub":"${userId}"},`),
  "a list": (userId) => `[${textOf(userId)}]`,
  "no JSON": (userId) => `sub=${userId}`,
  "with a byte order mark": (userId) => `\ufeff${textOf(userId)}`,
  "that is not UTF-8": (userId) => Buffer.from(textOf(userId).replace('"iss":"', '"iss":"\u00ff'), "latin1"),
};

export const claimAttacks: readonly Attack[] = [
  ...times,
  ...issuers.map((iss) => but(`of the issuer ${JSON.stringify(iss)}`, refused("token-issuer"), { iss })),
  ...audiences.map((aud) => but(`for the audience ${JSON.stringify(aud)}`, refused("token-audience"), { aud })),
  but("without an audience", noAudience, { aud: undefined }),
  but("without an audience, of a client", noAudience, { aud: undefined, client_id: "web", token_use: "access" }),
  ...noUsers.map((sub) =>
    claims(`for the user ${JSON.stringify(sub)?.slice(0, 40)}`, refused("token-user"), (userId) => named(sub, userId)),
  ),
  ...Object.entries(likenesses).map(([title, make]) =>
    claims(`for ${title}: a user who has nothing`, stranger, (userId) => claimsOf(make(userId))),
  ),
  ...userClaims.map((name) =>
    claims(`alice's, with the victim as ${name}`, asAlice, (userId) => ({ ...claimsOf("alice"), [name]: userId })),
  ),
  claims("alice's, for ours and others", asAlice, () => ({
    ...claimsOf("alice"),
    aud: ["https://other.example", audience],
  })),
  ...Object.entries(payloads).map(([title, make]) => claims(`the payload ${title}`, malformed, make)),
];
