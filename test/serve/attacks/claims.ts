/** Tokens signed by the issuer: for other servers, for another time, or for an oddly written user. */
import { audience, issuer } from "../../stage/token-issuer.ts";
import { readPlan, withHeaders } from "./asking.ts";
import { asAlice, refused, row, served } from "./attack.ts";
import type { Attack, Expected } from "./attack.ts";
import { claimsOf } from "./forge.ts";
import type { Claims } from "./forge.ts";
import type { Scene } from "./stage.ts";

/** A token of the issuer with these claims. A text is the raw payload. */
const claims = (title: string, expected: Expected, make: (scene: Scene) => Claims | string | Buffer): Attack =>
  row(title, expected, (scene) =>
    withHeaders(readPlan, ["Authorization", `Bearer ${scene.forge.issued(make(scene))}`]),
  );

/** A valid token of the victim with some claims changed. */
const but = (title: string, expected: Expected, changed: Claims): Attack =>
  claims(title, expected, ({ userId }) => ({ ...claimsOf(userId), ...changed }));

const hourS = 3_600;
const nowS = Math.floor(Date.now() / 1000);

const expired = refused("token-expired");
const wrongClaim = refused("token-claim");
const wrongIssuer = refused("token-issuer");
const wrongAudience = refused("token-audience");
const noUser = refused("token-user");
const malformed = refused("token-malformed");

const times: Attack[] = [
  but("expired an hour ago", expired, { exp: nowS - hourS }),
  but("expired in 1970", expired, { exp: 0 }),
  but("a negative time", expired, { exp: -nowS }),
  but("valid in an hour", refused("token-not-yet-valid"), { nbf: nowS + hourS }),
  but("valid from a text", wrongClaim, { nbf: "0" }),
  but("without an expiry", wrongClaim, { exp: undefined }),
  but("until null", wrongClaim, { exp: null }),
  but("until a text", wrongClaim, { exp: String(nowS + hourS) }),
  but("until a list", wrongClaim, { exp: [nowS + hourS] }),
  // JSON.stringify cannot write it.
  claims("until an infinite number", wrongClaim, ({ userId }) =>
    JSON.stringify({ ...claimsOf(userId), exp: "(here)" }).replace('"(here)"', "1e400"),
  ),
];

const issuers = [
  ["https://evil.example", undefined, [issuer], `${issuer}.evil.example`, `${issuer}/`],
  [issuer.toUpperCase(), `${issuer}\0`],
].flat();
const audiences = [
  ["https://other.example", undefined, `${audience}/admin`, audience.slice(0, -1), { [audience]: true }],
  [["https://other.example", "*"], [[audience]]],
].flat();

/** `$user` is the victim. */
const noUsers = [
  [undefined, 0, true, null, "", " ", ["$user"], { id: "$user", toString: "$user" }, "../$user", "..\\$user"],
  ["alice/../$user", ".", "..", "$user\0", "$user\0.alice", "$user\n", "$user ", "$user\u00a0", "$user\ud800"],
  "$user".padEnd(131, "x"),
].flat();

const named = (sub: unknown, userId: string): Claims =>
  JSON.parse(JSON.stringify(claimsOf(sub)).replaceAll("$user", userId)) as Claims;

/** User names that resemble the victim's. The server serves such a user, who is somebody else and has no entries. */
const likenesses: readonly (readonly [title: string, make: (userId: string) => string])[] = [
  ["the victim in capitals", (userId) => userId.toUpperCase()],
  ["the victim, percent-encoded", (userId) => `%${userId.charCodeAt(0).toString(16)}${userId.slice(1)}`],
  ["the victim with a full stop", (userId) => `${userId}.`],
  ["the victim in full-width letters", fullWidth],
  ["the victim with a soft hyphen", (userId) => `${userId}\u00ad`],
  ["the victim with a direction mark", (userId) => `\u202e${userId}`],
  ["the victim and a colon", (userId) => `${userId}::$DATA`],
  ["__proto__", () => "__proto__"],
  ["constructor", () => "constructor"],
];

function fullWidth(text: string): string {
  return Array.from(text, (letter) => String.fromCodePoint((letter.codePointAt(0) ?? 0) + 0xfee0)).join("");
}

const stranger = served(200, ["call ReadUserMemory (another) ENTRY_NOT_FOUND"], "ENTRY_NOT_FOUND");
const userClaims = ["user_id", "userId", "uid", "username", "preferred_username", "email", "client_id", "azp"];

const otherClaims: Attack[] = [
  ...userClaims.map((name) =>
    claims(`alice's, with the victim as ${name}`, asAlice, ({ userId }) => ({ ...claimsOf("alice"), [name]: userId })),
  ),
  claims("alice's, with the victim as actor", asAlice, ({ userId }) => ({
    ...claimsOf("alice"),
    act: { sub: userId },
    may_act: { sub: userId },
  })),
  claims("alice's, with Sub", asAlice, ({ userId }) => ({ ...claimsOf("alice"), Sub: userId, "sub ": userId })),
  claims("alice's, for ours and others", asAlice, () => ({
    ...claimsOf("alice"),
    aud: ["https://other.example", audience],
  })),
];

/** Payloads that are malformed. */
const payloads: Readonly<Record<string, (userId: string) => string | Buffer>> = {
  "sub twice, the victim last": (userId) => twice("alice", userId),
  "sub twice, alice last": (userId) => twice(userId, "alice"),
  "sub twice, once in escapes": (userId) => twice("alice", userId).replace('"sub"', '"\\u0073ub"'),
  "aud twice": (userId) => textOf(userId).replace('"aud"', '"aud":"https://other.example","aud"'),
  "the user as a prototype": (userId) =>
    JSON.stringify({ ...claimsOf("x"), sub: undefined }).replace("{", `{"__proto__":{"sub":"${userId}"},`),
  "a list": (userId) => `[${textOf(userId)}]`,
  "a text": (userId) => JSON.stringify(userId),
  "no JSON": (userId) => `sub=${userId}`,
  "with a byte order mark": (userId) => `\ufeff${textOf(userId)}`,
  "that is not UTF-8": (userId) => Buffer.from(textOf(userId).replace('"iss":"', '"iss":"\u00ff'), "latin1"),
  "in UTF-16": (userId) => Buffer.from(textOf(userId), "utf16le"),
};

const textOf = (userId: string): string => JSON.stringify(claimsOf(userId));

/** A payload with two users. */
const twice = (first: string, last: string): string => textOf(first).replace(/}$/, `,"sub":${JSON.stringify(last)}}`);

export const claimAttacks: readonly Attack[] = [
  ...times,
  ...issuers.map((iss) => but(`of the issuer ${JSON.stringify(iss)}`, wrongIssuer, { iss })),
  ...audiences.map((aud) => but(`for the audience ${JSON.stringify(aud)}`, wrongAudience, { aud })),
  ...noUsers.map((sub) =>
    claims(`for the user ${JSON.stringify(sub)?.slice(0, 40)}`, noUser, ({ userId }) => named(sub, userId)),
  ),
  ...likenesses.map(([title, make]) =>
    claims(`for ${title}: a user who has nothing`, stranger, ({ userId }) => claimsOf(make(userId))),
  ),
  ...otherClaims,
  ...Object.entries(payloads).map(([title, make]) =>
    claims(`the payload ${title}`, malformed, ({ userId }) => make(userId)),
  ),
];
