/** Headers that claim a user or an origin, and headers of browsers and proxies. */
import { readPlan, withHeaders } from "./asking.ts";
import type { Ask, HeaderLine } from "./asking.ts";
import { asAlice, refused, row } from "./attack.ts";
import type { Attack, Expected } from "./attack.ts";
import { allowedOrigin } from "./stage.ts";

export const said = (title: string, expected: Expected, ...headers: readonly HeaderLine[]): Attack =>
  row(title, expected, withHeaders(readPlan, ...headers));

const userHeaders = [
  ["X-User-Id", "X-User", "X-Username", "User-Id", "User", "Remote-User", "X-Remote-User", "REMOTE_USER"],
  ["X-Forwarded-User", "X-Forwarded-Email", "X-Forwarded-Preferred-Username", "X-Auth-Request-User"],
  ["X-Auth-User", "X-Authenticated-User", "X-WEBAUTH-USER", "X-MS-CLIENT-PRINCIPAL-NAME", "X-Tenant-Id"],
  ["X-Amzn-Oidc-Identity", "X-Goog-Authenticated-User-Id", "Cf-Access-Authenticated-User-Email", "From"],
  ["X-Impersonate-User", "Impersonate-User", "Mcp-User", "Mcp-Param-UserId", "X-Memcell-User"],
].flat();

const proxies: readonly (readonly [title: string, ...headers: readonly HeaderLine[]])[] = [
  ["an address", ["X-Forwarded-For", "127.0.0.1"], ["X-Real-IP", "127.0.0.1"], ["X-Client-IP", "$user"]],
  ["another address", ["True-Client-IP", "::1"]],
  ["Forwarded", ["Forwarded", "for=127.0.0.1;host=$user.example;proto=https;by=$user"]],
  ["a host", ["X-Forwarded-Host", "evil.example"], ["X-Forwarded-Server", "$user"], ["X-Host", "evil.example"]],
  [
    "a path",
    ["X-Forwarded-Prefix", "/$user"],
    ["X-Original-URL", "/users/$user"],
    ["X-Rewrite-URL", "/mcp?user=$user"],
  ],
  ["a method", ["X-HTTP-Method-Override", "DELETE"], ["X-HTTP-Method", "DELETE"], ["X-Method-Override", "DELETE"]],
  ["another method", ["X-HTTP-Method-Override", "GET"], ["X-Method", "PUT"]],
  ["__proto__ and constructor", ["__proto__", "$user"], ["constructor", "$user"]],
  [
    "a handshake for WebSocket",
    ["Connection", "close, Upgrade"],
    ["Upgrade", "websocket"],
    ["Sec-WebSocket-Key", "AAAAAAAAAAAAAAAAAAAAAA=="],
    ["Sec-WebSocket-Version", "13"],
  ],
  [
    "a handshake for HTTP/2",
    ["Connection", "close, Upgrade, HTTP2-Settings"],
    ["Upgrade", "h2c"],
    ["HTTP2-Settings", "AAMAAABkAAQAAP__"],
  ],
  ["headers that Connection names", ["Connection", "close, Authorization, Host"]],
  ["the expectation 100-continue", ["Expect", "100-continue"]],
  ["an unknown expectation", ["Expect", "$user"]],
];

const empties = Array.from({ length: 2_500 }, (): HeaderLine => ["x", ""]);

/** Beside the headers of a good request. */
const repeats: readonly (readonly [title: string, ...headers: readonly HeaderLine[]])[] = [
  ["two hosts", ["Host", "127.0.0.1"], ["Host", "evil.example"]],
  ["two origins", ["Origin", allowedOrigin], ["Origin", "https://evil.example"]],
  ["two types", ["Content-Type", "text/plain"]],
  ["two methods", ["Mcp-Method", "resources/list"]],
  ["alice's token and the victim's", ["Authorization", "Bearer $alice"], ["Authorization", "Bearer $expired"]],
  ["the victim's token and alice's", ["Authorization", "Bearer $expired"], ["authorization", "Bearer $alice"]],
  ["alice's token twice", ["Authorization", "Bearer $alice"], ["AUTHORIZATION", "Bearer $alice"]],
  ["alice's token and an empty one", ["Authorization", "Bearer $alice"], ["Authorization", ""]],
  ["after 2,500 others", ["Authorization", "Bearer $alice"], ...empties, ["Authorization", "Bearer $expired"]],
  ["two revisions", ["Mcp-Protocol-Version", "2025-11-25"]],
];

const repeated = refused("header-repeated");
const and = (ask: Ask, headers: readonly HeaderLine[]): Ask => ({ ...ask, headers: [...ask.headers, ...headers] });

export const headerAttacks: readonly Attack[] = [
  ...userHeaders.map((name) => said(name, asAlice, [name, "$user"])),
  ...proxies.map(([title, ...headers]) => said(`headers with ${title}`, asAlice, ...headers)),
  ...repeats.map(([title, ...headers]) => row(title, repeated, and(readPlan, headers))),
];

export const foreignHosts = [
  ["evil.example", "127.0.0.1.evil.example", "localhost.evil.example", "evil.example:7391", "$user.localhost"],
  ["127.0.0.1@evil.example", "localhost@127.0.0.1", "evil.example#127.0.0.1", "127.0.0.1/evil", "127.0.0.1:"],
  ["127.0.0.1:999999", "127.0.0.2", "127.1", "2130706433", "0x7f000001", "0.0.0.0", "192.168.0.1", "[::]"],
  ["[::ffff:127.0.0.1]", "::1", "127.0.0.1, evil.example", "localhost.", "*", "xn--lcalhost-54a", ""],
].flat();

export const foreignOrigins = [
  ["null", "https://evil.example", "http://app.example", "https://app.example:8443", "https://app.example/"],
  ["https://APP.example", "https://sub.app.example", "https://app.example.evil.example", "https://evilapp.example"],
  ["https://app.example@evil.example", "https://app.example https://evil.example", "http://127.0.0.1", "file://"],
  ["http://localhost", "http://localhost:7391", "https://app_example", "https://app.example\u200b", "*", ""],
].flat();

const evil: HeaderLine = ["Origin", "https://evil.example"];

/** Also for a server of one user. */
export const foreignAttacks: readonly Attack[] = [
  ...foreignHosts.map((host) => said(`the host ${JSON.stringify(host)}`, refused("host-unknown"), ["Host", host])),
  ...foreignOrigins.map((origin) =>
    said(`the origin ${JSON.stringify(origin)}`, refused("origin-unknown"), ["Origin", origin]),
  ),
  said("a page that posts like a form", refused("origin-unknown"), evil, ["Content-Type", "text/plain"]),
  row("a preflight of another origin", refused("origin-unknown"), {
    ...withHeaders(readPlan, evil, ["Access-Control-Request-Method", "POST"]),
    method: "OPTIONS",
    body: "",
    isAnonymous: true,
  }),
  ...["localhost", "LOCALHOST:1", "[::1]:80"].map((host) =>
    said(`the host ${host}, which is the server's`, asAlice, ["Host", host]),
  ),
  said(`the origin ${allowedOrigin}, which may ask`, asAlice, ["Origin", allowedOrigin]),
];
