/** Tokens sent in odd ways: in unusual `Authorization` headers, and outside that header. */
import { readPlan, withHeaders } from "./asking.ts";
import { asAlice, badToken, refused, row } from "./attack.ts";
import type { Attack } from "./attack.ts";
import { base64url } from "./forge.ts";
import { authorization, malformed, missing, token } from "./token-rows.ts";

const anonymous = { ...readPlan, isAnonymous: true } as const;

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
  token("with NUL after it", refused(400, "http-malformed", "nobody"), (_victim, { alice }) => `${alice.token}\0`),
  authorization("the scheme in lower case", asAlice, (_victim, { alice }) => `bearer ${alice.token}`),
  token("with spaces after it", asAlice, (_victim, { alice }) => `${alice.token}  `),
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

export const tokenPlaceAttacks: readonly Attack[] = [...headerValues, ...otherPlaces];
