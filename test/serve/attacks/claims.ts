/** Tokens signed by the issuer: for other servers, for another time, or for an oddly written user. */
import { readPlan, withHeaders } from "./asking.ts";
import { asAlice, badToken, refused, row, served } from "./attack.ts";
import type { Attack, Expected } from "./attack.ts";
import { audience, claimsOf, issuer } from "./forge.ts";
import type { Claims } from "./forge.ts";
import type { Stage, Victim } from "./stage.ts";

type MakeClaims = (victim: Victim, stage: Stage) => Claims | string | Buffer;

const claims = (title: string, expected: Expected, make: MakeClaims): Attack =>
  row(title, expected, (victim, stage) =>
    withHeaders(readPlan, ["Authorization", `Bearer ${stage.forge.issued(make(victim, stage))}`]),
  );

/** A valid token of the victim with some claims changed. */
const but =
  (changed: Claims): MakeClaims =>
  ({ userId }) => ({ ...claimsOf(userId), ...changed });

/** The same with one claim as raw text, for values that JSON.stringify cannot write. */
const raw =
  (name: string, text: string): MakeClaims =>
  ({ userId }) =>
    JSON.stringify({ ...claimsOf(userId), [name]: "(here)" }).replace('"(here)"', text);

const hourS = 3_600;
const nowS = (): number => Math.floor(Date.now() / 1000);

const wrongClaim = badToken("token-claim");
const wrongIssuer = badToken("token-issuer");
const wrongAudience = badToken("token-audience");
const noUser = refused(403, "token-user", "nobody");
const malformed = badToken("token-malformed");

const times: Attack[] = [
  claims("expired an hour ago", badToken("token-expired"), but({ exp: nowS() - hourS })),
  claims("expired in 1970", badToken("token-expired"), but({ exp: 0 })),
  claims("a negative time", badToken("token-expired"), but({ exp: -nowS() })),
  claims("valid in an hour", badToken("token-not-yet-valid"), but({ nbf: nowS() + hourS })),
  claims("valid from a text", wrongClaim, but({ nbf: "0" })),
  claims("without an expiry", wrongClaim, but({ exp: undefined })),
  claims("until null", wrongClaim, but({ exp: null })),
  claims("until a text", wrongClaim, but({ exp: String(nowS() + hourS) })),
  claims("until a list", wrongClaim, but({ exp: [nowS() + hourS] })),
  claims("until an infinite number", wrongClaim, raw("exp", "1e400")),
];

const issuers: Attack[] = [
  claims("of another issuer", wrongIssuer, but({ iss: "https://evil.example" })),
  claims("of no issuer", wrongIssuer, but({ iss: undefined })),
  claims("of issuers in a list", wrongIssuer, but({ iss: [issuer] })),
  claims("of an issuer with the same prefix", wrongIssuer, but({ iss: `${issuer}.evil.example` })),
  claims("of an issuer with a slash", wrongIssuer, but({ iss: `${issuer}/` })),
  claims("of an issuer in capitals", wrongIssuer, but({ iss: issuer.toUpperCase() })),
  claims("of an issuer and NUL", wrongIssuer, but({ iss: `${issuer}\0` })),
];

const audiences: Attack[] = [
  claims("for another audience", wrongAudience, but({ aud: "https://other.example" })),
  claims("for no audience", wrongAudience, but({ aud: undefined })),
  claims("for an audience that contains ours", wrongAudience, but({ aud: `${audience}/admin` })),
  claims("for a part of ours", wrongAudience, but({ aud: audience.slice(0, -1) })),
  claims("for an object", wrongAudience, but({ aud: { [audience]: true } })),
  claims("for a list of others", wrongAudience, but({ aud: ["https://other.example", "*"] })),
  claims("for a list in a list", wrongAudience, but({ aud: [[audience]] })),
  claims("alice's, for ours and others", asAlice, () => ({
    ...claimsOf("alice"),
    aud: ["https://other.example", audience],
  })),
];

const users: Attack[] = [
  claims("for nobody", noUser, but({ sub: undefined })),
  ...[0, true, null, "", " "].map((sub) => claims(`for the user ${JSON.stringify(sub)}`, noUser, but({ sub }))),
  claims("for a list", noUser, ({ userId }) => ({ ...claimsOf([userId]) })),
  claims("for an object", noUser, ({ userId }) => ({ ...claimsOf({ id: userId, toString: userId }) })),
  claims("for ../victim", noUser, ({ userId }) => claimsOf(`../${userId}`)),
  claims("for alice/../victim", noUser, ({ userId }) => claimsOf(`alice/../${userId}`)),
  claims("for ..\\victim", noUser, ({ userId }) => claimsOf(`..\\${userId}`)),
  claims("for .", noUser, () => claimsOf(".")),
  claims("for ..", noUser, () => claimsOf("..")),
  claims("for the victim and NUL", noUser, ({ userId }) => claimsOf(`${userId}\0`)),
  claims("for the victim, NUL and more", noUser, ({ userId }) => claimsOf(`${userId}\0.alice`)),
  claims("for the victim and a line feed", noUser, ({ userId }) => claimsOf(`${userId}\n`)),
  claims("for the victim and a space", noUser, ({ userId }) => claimsOf(`${userId} `)),
  claims("for the victim and a no-break space", noUser, ({ userId }) => claimsOf(`${userId}\u00a0`)),
  claims("for the victim and half a character", noUser, ({ userId }) => claimsOf(`${userId}\ud800`)),
  claims("for a user of 129 bytes", noUser, ({ userId }) => claimsOf(userId.padEnd(129, "x"))),
];

/** User names that resemble the victim's. The server serves such a user, who is somebody else and has no entries. */
const likeness = (title: string, make: (userId: string) => string): Attack =>
  row(
    `for ${title}: a user who has nothing`,
    served(200, ["call ReadUserMemory (another) ENTRY_NOT_FOUND"], "ENTRY_NOT_FOUND"),
    (victim, { forge }) =>
      withHeaders(readPlan, ["Authorization", `Bearer ${forge.issued(claimsOf(make(victim.userId)))}`]),
  );

const likenesses: Attack[] = [
  likeness("the victim in capitals", (userId) => userId.toUpperCase()),
  likeness("the victim, percent-encoded", (userId) => `%${userId.charCodeAt(0).toString(16)}${userId.slice(1)}`),
  likeness("the victim with a full stop", (userId) => `${userId}.`),
  likeness("the victim in full-width letters", (userId) => fullWidth(userId)),
  likeness("the victim with a soft hyphen", (userId) => `${userId}\u00ad`),
  likeness("the victim with a direction mark", (userId) => `\u202e${userId}`),
  likeness("the victim and a colon", (userId) => `${userId}::$DATA`),
  likeness("__proto__", () => "__proto__"),
  likeness("constructor", () => "constructor"),
];

function fullWidth(text: string): string {
  return Array.from(text, (letter) => String.fromCodePoint((letter.codePointAt(0) ?? 0) + 0xfee0)).join("");
}

const otherClaims: Attack[] = [
  ...["user_id", "userId", "uid", "username", "preferred_username", "email", "client_id", "azp"].map((name) =>
    claims(`alice's, with the victim as ${name}`, asAlice, ({ userId }) => ({ ...claimsOf("alice"), [name]: userId })),
  ),
  claims("alice's, with the victim as actor", asAlice, ({ userId }) => ({
    ...claimsOf("alice"),
    act: { sub: userId },
    may_act: { sub: userId },
  })),
  claims("alice's, with Sub", asAlice, ({ userId }) => ({ ...claimsOf("alice"), Sub: userId, "sub ": userId })),
  claims("sub twice, the victim last", malformed, ({ userId }) => twice("alice", userId)),
  claims("sub twice, alice last", malformed, ({ userId }) => twice(userId, "alice")),
  claims("sub twice, once in escapes", malformed, ({ userId }) =>
    twice("alice", userId).replace('"sub"', '"\\u0073ub"'),
  ),
  claims("aud twice", malformed, ({ userId }) =>
    JSON.stringify(claimsOf(userId)).replace('"aud"', '"aud":"https://other.example","aud"'),
  ),
  claims("the user as a prototype", malformed, ({ userId }) =>
    JSON.stringify({ ...claimsOf("x"), sub: undefined }).replace("{", `{"__proto__":{"sub":"${userId}"},`),
  ),
  claims("a payload that is a list", malformed, ({ userId }) => JSON.stringify([claimsOf(userId)])),
  claims("a payload that is a text", malformed, ({ userId }) => JSON.stringify(userId)),
  claims("a payload that is not JSON", malformed, ({ userId }) => `sub=${userId}`),
  claims("a payload with a byte order mark", malformed, ({ userId }) => `\ufeff${JSON.stringify(claimsOf(userId))}`),
  claims("a payload that is not UTF-8", malformed, ({ userId }) =>
    Buffer.concat([Buffer.from(JSON.stringify(claimsOf(userId)).slice(0, -2)), Buffer.from([0xff, 0x22, 0x7d])]),
  ),
  claims("a payload in UTF-16", malformed, ({ userId }) => Buffer.from(JSON.stringify(claimsOf(userId)), "utf16le")),
];

/** A payload with two users. */
function twice(first: string, last: string): string {
  return JSON.stringify(claimsOf(first))
    .replace("{", "{")
    .replace(/}$/, `,"sub":${JSON.stringify(last)}}`);
}

export const claimAttacks: readonly Attack[] = [
  ...times,
  ...issuers,
  ...audiences,
  ...users,
  ...likenesses,
  ...otherClaims,
];
