/** Headers that claim a user or an origin, and headers of browsers and proxies. */
import { readPlan, withHeaders } from "./asking.ts";
import type { HeaderLine } from "./asking.ts";
import { asAlice, refused, row } from "./attack.ts";
import type { Attack, Expected } from "./attack.ts";
import type { Victim } from "./stage.ts";

/** The only origin that the server under attack allows. */
export const allowedOrigin = "https://app.example";

const userHeaders = [
  "X-User-Id",
  "X-User",
  "X-Username",
  "User-Id",
  "User",
  "Remote-User",
  "X-Remote-User",
  "REMOTE_USER",
  "X-Forwarded-User",
  "X-Forwarded-Email",
  "X-Forwarded-Preferred-Username",
  "X-Auth-Request-User",
  "X-Auth-User",
  "X-Authenticated-User",
  "X-WEBAUTH-USER",
  "X-MS-CLIENT-PRINCIPAL-NAME",
  "X-Amzn-Oidc-Identity",
  "X-Goog-Authenticated-User-Id",
  "Cf-Access-Authenticated-User-Email",
  "X-Tenant-Id",
  "X-Impersonate-User",
  "Impersonate-User",
  "From",
  "Mcp-User",
  "Mcp-Param-UserId",
  "X-Memcell-User",
];

const said = (title: string, expected: Expected, make: (victim: Victim) => readonly HeaderLine[]): Attack =>
  row(title, expected, (victim) => withHeaders(readPlan, ...make(victim)));

const users: Attack[] = userHeaders.map((name) => said(name, asAlice, ({ userId }) => [[name, userId]]));

const proxies: Attack[] = [
  said("X-Forwarded-For and similar headers", asAlice, ({ userId }) => [
    ["X-Forwarded-For", "127.0.0.1"],
    ["X-Real-IP", "127.0.0.1"],
    ["X-Client-IP", userId],
    ["True-Client-IP", "::1"],
  ]),
  said("Forwarded", asAlice, ({ userId }) => [
    ["Forwarded", `for=127.0.0.1;host=${userId}.example;proto=https;by=${userId}`],
  ]),
  said("X-Forwarded-Host and similar headers", asAlice, ({ userId }) => [
    ["X-Forwarded-Host", "evil.example"],
    ["X-Forwarded-Server", userId],
    ["X-Host", "evil.example"],
    ["X-Forwarded-Prefix", `/${userId}`],
  ]),
  said("X-Original-URL", asAlice, ({ userId }) => [
    ["X-Original-URL", `/users/${userId}`],
    ["X-Rewrite-URL", `/mcp?user=${userId}`],
  ]),
  said("X-HTTP-Method-Override", asAlice, () => [
    ["X-HTTP-Method-Override", "DELETE"],
    ["X-HTTP-Method", "DELETE"],
    ["X-Method-Override", "DELETE"],
  ]),
  said("__proto__ and constructor", asAlice, ({ userId }) => [
    ["__proto__", userId],
    ["constructor", userId],
  ]),
  said("a handshake for WebSocket", asAlice, () => [
    ["Connection", "close, Upgrade"],
    ["Upgrade", "websocket"],
    ["Sec-WebSocket-Key", "AAAAAAAAAAAAAAAAAAAAAA=="],
    ["Sec-WebSocket-Version", "13"],
  ]),
  said("a handshake for HTTP/2", asAlice, () => [
    ["Connection", "close, Upgrade, HTTP2-Settings"],
    ["Upgrade", "h2c"],
    ["HTTP2-Settings", "AAMAAABkAAQAAP__"],
  ]),
  said("headers that Connection names", asAlice, () => [["Connection", "close, Authorization, Host"]]),
  said("the expectation 100-continue", asAlice, () => [["Expect", "100-continue"]]),
  said("an unknown expectation", asAlice, ({ userId }) => [["Expect", userId]]),
];

/** A header sent twice, in this order. */
const repeated = (title: string, make: (victim: Victim, token: string) => readonly HeaderLine[]): Attack =>
  row(title, refused(400, "header-repeated", "nobody"), (victim, { alice }) => ({
    ...readPlan,
    headers: [...readPlan.headers, ...make(victim, alice.token)],
  }));

const bearer = (token: string): string => `Bearer ${token}`;

const repeats: Attack[] = [
  repeated("alice's token and the victim's", ({ expiredToken }, token) => [
    ["Authorization", bearer(token)],
    ["Authorization", bearer(expiredToken)],
  ]),
  repeated("the victim's token and alice's", ({ expiredToken }, token) => [
    ["Authorization", bearer(expiredToken)],
    ["authorization", bearer(token)],
  ]),
  repeated("alice's token twice", (_victim, token) => [
    ["Authorization", bearer(token)],
    ["AUTHORIZATION", bearer(token)],
  ]),
  repeated("alice's token and an empty one", (_victim, token) => [
    ["Authorization", bearer(token)],
    ["Authorization", ""],
  ]),
  repeated("the second after 2,500 others", ({ expiredToken }, token) => [
    ["Authorization", bearer(token)],
    ...Array.from({ length: 2_500 }, (): HeaderLine => ["x", ""]),
    ["Authorization", bearer(expiredToken)],
  ]),
  repeated("two hosts", (_victim, token) => [
    ["Authorization", bearer(token)],
    ["Host", "127.0.0.1"],
    ["Host", "evil.example"],
  ]),
  repeated("two origins", (_victim, token) => [
    ["Authorization", bearer(token)],
    ["Origin", allowedOrigin],
    ["Origin", "https://evil.example"],
  ]),
  repeated("two types", (_victim, token) => [
    ["Authorization", bearer(token)],
    ["Content-Type", "text/plain"],
  ]),
  repeated("two methods", (_victim, token) => [
    ["Authorization", bearer(token)],
    ["Mcp-Method", "resources/list"],
  ]),
  repeated("two revisions", (_victim, token) => [
    ["Authorization", bearer(token)],
    ["Mcp-Protocol-Version", "2025-11-25"],
  ]),
];

const unknownHost = refused(403, "host-unknown", "nobody");
const foreignHosts = [
  "evil.example",
  "127.0.0.1.evil.example",
  "localhost.evil.example",
  "evil.example:7391",
  "127.0.0.1@evil.example",
  "evil.example#127.0.0.1",
  "127.0.0.1/evil",
  "127.0.0.1:",
  "127.0.0.1:999999",
  "127.1",
  "2130706433",
  "0x7f000001",
  "0.0.0.0",
  "[::]",
  "[::ffff:127.0.0.1]",
  "::1",
  "127.0.0.1, evil.example",
  "localhost.",
  "*",
  "xn--lcalhost-54a",
  "",
];

const hosts: Attack[] = [
  ...foreignHosts.map((host) => said(`the host ${JSON.stringify(host)}`, unknownHost, () => [["Host", host]])),
  said("the victim's host", unknownHost, ({ userId }) => [["Host", `${userId}.localhost`]]),
  ...["localhost", "LOCALHOST:1", "[::1]:80"].map((host) =>
    said(`the host ${host}, which is the server's`, asAlice, () => [["Host", host]]),
  ),
];

const unknownOrigin = refused(403, "origin-unknown", "nobody");
const foreignOrigins = [
  "null",
  "https://evil.example",
  "http://app.example",
  "https://app.example:8443",
  "https://app.example/",
  "https://APP.example",
  "https://sub.app.example",
  "https://app.example.evil.example",
  "https://evilapp.example",
  "https://app.example@evil.example",
  "https://app.example https://evil.example",
  "http://127.0.0.1",
  "http://localhost",
  "file://",
  "https://app_example",
  "https://app.example\u200b",
  "*",
  "",
];

const origins: Attack[] = [
  ...foreignOrigins.map((origin) =>
    said(`the origin ${JSON.stringify(origin)}`, unknownOrigin, () => [["Origin", origin]]),
  ),
  row("a preflight of another origin", unknownOrigin, () => ({
    ...withHeaders(readPlan, ["Origin", "https://evil.example"], ["Access-Control-Request-Method", "POST"]),
    method: "OPTIONS",
    body: "",
    isAnonymous: true,
  })),
  said(`the origin ${allowedOrigin}, which may ask`, asAlice, () => [["Origin", allowedOrigin]]),
];

export const headerAttacks: readonly Attack[] = [...users, ...proxies, ...repeats];
export const hostAttacks: readonly Attack[] = [...hosts, ...origins];
