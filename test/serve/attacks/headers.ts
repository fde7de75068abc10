/** Headers that claim a user or an origin, and headers of browsers and proxies. */
import { readPlan, withHeaders } from "./asking.ts";
import type { Ask, HeaderLine } from "./asking.ts";
import { asAlice, refused, row } from "./attack.ts";
import type { Attack, Expected } from "./attack.ts";
import { allowedOrigin } from "./stage.ts";

export const said = (title: string, expected: Expected, ...headers: readonly HeaderLine[]): Attack =>
  row(title, expected, withHeaders(readPlan, ...headers));

const userHeaders = [
  ["X-User-Id", "User", "Remote-User", "REMOTE_USER", "X-Forwarded-User", "X-Forwarded-Email", "X-Auth-Request-User"],
  ["X-MS-CLIENT-PRINCIPAL-NAME", "X-Tenant-Id", "From", "Impersonate-User", "Mcp-User", "X-Memcell-User"],
].flat();

const proxies: readonly (readonly [title: string, ...headers: readonly HeaderLine[]])[] = [
  ["an address", ["X-Forwarded-For", "127.0.0.1"], ["X-Real-IP", "127.0.0.1"], ["X-Client-IP", "$user"]],
  ["Forwarded", ["Forwarded", "for=127.0.0.1;host=$user.example;proto=https;by=$user"]],
  ["a host", ["X-Forwarded-Host", "evil.example"], ["X-Host", "evil.example"]],
  ["a path", ["X-Original-URL", "/users/$user"], ["X-Rewrite-URL", "/mcp?user=$user"]],
  ["a method", ["X-HTTP-Method-Override", "DELETE"], ["X-Method-Override", "DELETE"]],
  ["__proto__ and constructor", ["__proto__", "$user"], ["constructor", "$user"]],
  [
    "a handshake for WebSocket",
    ["Connection", "close, Upgrade"],
    ["Upgrade", "websocket"],
    ["Sec-WebSocket-Key", "AAAAAAAAAAAAAAAAAAAAAA=="],
    ["Sec-WebSocket-Version", "13"],
  ],
  ["a handshake for HTTP/2", ["Connection", "close, Upgrade, HTTP2-Settings"], ["Upgrade", "h2c"]],
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
  ["alice's token and the victim's", ["Authorization", "Bearer $alice"], ["Authorization", "Bearer $expired"]],
  ["the victim's token and alice's", ["Authorization", "Bearer $expired"], ["authorization", "Bearer $alice"]],
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

const foreignHosts = [
  ["evil.example", "127.0.0.1.evil.example", "localhost.evil.example", "evil.example:7391", "$user.localhost"],
  ["127.0.0.1@evil.example", "localhost@127.0.0.1", "evil.example#127.0.0.1", "127.0.0.1/evil", "127.0.0.1:"],
  ["127.0.0.1:999999", "127.0.0.2", "2130706433", "0.0.0.0", "[::]", "::1", "127.0.0.1, evil.example", "*", ""],
].flat();

const foreignOrigins = [
  ["null", "https://evil.example", "http://app.example", "https://app.example:8443", "https://app.example/"],
  ["https://APP.example", "https://app.example.evil.example", "https://evilapp.example", "http://127.0.0.1", "*"],
  ["https://app.example@evil.example", "https://app.example https://evil.example", "file://", ""],
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
