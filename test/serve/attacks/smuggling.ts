/** Requests hidden in other requests, and connections that a proxy shares between users. */
import { authorised, bytesOf, modern, readPlan, readPlanIn, withHeaders } from "./asking.ts";
import type { Ask, HeaderLine } from "./asking.ts";
import { asAlice, refused, row } from "./attack.ts";
import type { Attack, Expected } from "./attack.ts";
import type { Sent } from "./exchange.ts";
import { claimsOf } from "./forge.ts";
import { askOf } from "./withstand.ts";

const malformed = refused("http-malformed");
const tooLong: Expected = { ...malformed, statuses: [431] };

/** If the head is valid, alice is admitted before the body proves malformed. */
const malformedBody: Expected = {
  kind: "refused",
  statuses: [400],
  records: ["refused http http-malformed nobody", "refused http body-cut alice"],
};

const plain = String(readPlan.body);
const length = String(Buffer.byteLength(plain));
const chunked = (text: string): string => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n0\r\n\r\n`;
const chunks = ["Transfer-Encoding", "chunked"] as const;

/** Alice's call with other framing. Headers replace those of the same name. */
const framed = (title: string, expected: Expected, body: string, ...headers: readonly HeaderLine[]): Attack =>
  row(title, expected, withHeaders({ ...readPlan, body }, ...headers));

const lengths = [`${length}, ${length}`, `+${length}`, "-1", "0x10", "18446744073709551626"];
const oddHeaders: readonly HeaderLine[] = [
  ["X-Folded", "a\r\n Authorization: Bearer b"],
  ["X-Return", "a\rAuthorization: Bearer b"],
  ["X-Feed", "a\n Authorization: Bearer b"],
  ["X-Nul", "a\0b"],
  ["", "a"],
];

const withTrailer = (trailer: string): string => chunked(plain).replace(/\r\n$/, `${trailer}\r\n\r\n`);
const announced = ["Trailer", "Authorization"] as const;

const framing: Attack[] = [
  framed("a length and chunks", malformed, chunked(plain), ["Content-Length", length], chunks),
  framed("chunks and a length", malformed, chunked(plain), chunks, ["Content-Length", "4"]),
  framed("chunks that are not the last encoding", malformed, chunked(plain), [chunks[0], "chunked, identity"]),
  framed("chunks in other letters", malformedBody, chunked(plain), [chunks[0], "xchunked"]),
  framed("chunks after a tab", malformed, chunked(plain), [chunks[0], "\tchunked\u000b"]),
  framed("a space behind the header's name", malformed, chunked(plain), ["Transfer-Encoding ", "chunked"]),
  framed("two lengths", malformed, plain, ["Content-Length", length], ["content-length", "4"]),
  ...lengths.map((each) => framed(`the length ${each}`, malformed, plain, ["Content-Length", each])),
  framed("a chunk beyond 64 bits", malformedBody, "ffffffffffffffff1\r\nx", chunks),
  framed("an invalid chunk length", malformedBody, `0x${chunked(plain)}`, chunks),
  ...oddHeaders.map((header) => framed(`the header ${JSON.stringify(header)}`, malformed, plain, header)),
  framed("headers of 17 KB", tooLong, plain, ["X-Long", "a".repeat(17_000)]),
  framed("another length after the chunks", malformedBody, withTrailer("Content-Length: 4"), chunks),
  framed("chunks alone", asAlice, chunked(plain), chunks),
  framed("chunks in capitals", asAlice, chunked(plain), [chunks[0], "CHUNKED"]),
  framed("a token after the body", asAlice, withTrailer("Authorization: Bearer $expired"), chunks, announced),
  framed("a session after the body", asAlice, withTrailer("Mcp-Session-Id: $session"), chunks, announced),
];

const of = (kind: Expected["kind"], statuses: readonly number[], ...records: readonly string[]): Expected => ({
  kind,
  statuses,
  records,
});

const read = "call ReadUserMemory alice done";
const noToken = "refused http token-missing nobody";
const anonymous: Ask = { ...readPlan, isAnonymous: true };
const expired = ["Authorization", "Bearer $expired"] as const;
const asExpired = withHeaders(readPlan, expired);

/** Sent with a good token of the victim. */
const asVictim = modern("tools/list");

/** A whole request of the victim, inside another. */
const hidden = bytesOf(asExpired).toString();

/** Several requests on one connection. Those without a token get alice's. The last one closes the connection. */
const oneConnection = (title: string, expected: Expected, ...asks: readonly Ask[]): Attack =>
  row(title, expected, (scene): Sent => {
    const good = scene.forge.issued(claimsOf(scene.userId));
    const goods = asks.map((ask) => (ask === asVictim ? withHeaders(ask, ["Authorization", `Bearer ${good}`]) : ask));
    const sent = goods.map((ask) => askOf(ask, scene));
    const open = sent.slice(0, -1).map((ask) => withHeaders(ask, ["Connection", "keep-alive"]));
    return { bytes: [Buffer.concat([...open, ...sent.slice(-1)].map(bytesOf))] };
  });

export const connectionAttacks: readonly Attack[] = [
  oneConnection("alice's request after the victim's", of("served", [200, 200], read), asVictim, readPlan),
  oneConnection("no token after the victim's", of("refused", [200, 401], noToken), asVictim, anonymous),
  oneConnection(
    "a request in the victim's session after the victim's",
    of("refused", [200, 404], "refused http session-unknown alice"),
    asVictim,
    readPlanIn("$session"),
  ),
  oneConnection("no token after alice's", of("refused", [200, 401], read, noToken), readPlan, anonymous),
  oneConnection(
    "the victim's expired token after alice's",
    of("refused", [200, 401], read, "refused http token-expired nobody"),
    readPlan,
    asExpired,
  ),
  oneConnection(
    "alice's request between the victim's",
    of("served", [200, 200, 200], read),
    asVictim,
    readPlan,
    asVictim,
  ),
  oneConnection("a request as the body", refused("body-unfit", "alice"), { ...readPlan, body: hidden }),
  oneConnection(
    "a request as the body of GET",
    of("refused", [400, 200], "refused http session-missing alice", read),
    { ...readPlan, method: "GET", body: hidden },
    readPlan,
  ),
  oneConnection(
    "a request as the body of an unknown path",
    of("refused", [404, 200], "refused http path-unknown nobody", read),
    { ...readPlan, target: "/nothing", body: hidden },
    readPlan,
  ),
  oneConnection(
    "a request as the body of one without a token",
    of("refused", [401, 200], noToken, read),
    { ...anonymous, body: hidden },
    readPlan,
  ),
  oneConnection(
    "a request as the body of the health check",
    of("served", [200, 200], read),
    { ...readPlan, method: "GET", target: "/healthz", body: hidden },
    readPlan,
  ),
  oneConnection(
    "a request in the name of a chunk",
    malformedBody,
    withHeaders({ ...readPlan, body: chunked(plain).replace("\r\n", () => `;${hidden}\r\n`) }, chunks),
  ),
  oneConnection(
    "a request after a body with a shorter declared length",
    of("refused", [400, 401], "refused http body-unfit alice", "refused http token-expired nobody"),
    withHeaders({ ...readPlan, body: `{}x` }, ["Content-Length", "3"]),
    asExpired,
  ),
  oneConnection(
    "half a message, and what is left as a request",
    malformedBody,
    withHeaders(readPlan, ["Content-Length", "10"], ["Connection", "keep-alive"]),
  ),
];

/** Alice's request as text, changed. */
const rewritten = (title: string, expected: Expected, change: (text: string) => string): Attack =>
  row(title, expected, ({ alice }): Sent => ({
    bytes: [Buffer.from(change(bytesOf(authorised(readPlan, alice.token)).toString()))],
  }));
const raw = (title: string, expected: Expected, ...bytes: readonly Buffer[]): Attack =>
  row(title, expected, (): Sent => ({ bytes }));

const noHost = refused("host-unknown");
const withoutHost = (text: string): string => text.replace("Host: 127.0.0.1\r\n", "");
const versioned = (version: string, expected: Expected): Attack =>
  rewritten(`the version ${version}`, expected, (text) => text.replace("HTTP/1.1", version));

export const smugglingAttacks: readonly Attack[] = [
  ...framing,
  // None of the versions that Node's parser knows changes the framing that the length gives.
  ...["HTTP/0.9", "HTTP/2.0"].map((version) => versioned(version, asAlice)),
  ...["HTTP/1.2", "HTTP/3", "HTP/1.1", "HTTP/1.1x"].map((version) => versioned(version, malformed)),
  rewritten("no host", noHost, withoutHost),
  rewritten("no host, in HTTP/1.0", noHost, (text) => withoutHost(text).replace("HTTP/1.1", "HTTP/1.0")),
  raw("text that is not HTTP", malformed, Buffer.from("hello\r\n\r\n")),
  raw("headers without an end", tooLong, Buffer.from(`GET /mcp HTTP/1.1\r\nx: ${"x".repeat(17_000)}`)),
  raw("HTTP/2 without negotiation", malformed, Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")),
  raw("TLS", malformed, Buffer.from([0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00, 0x01, 0xfc, 0x03, 0x03])),
  raw("the line of a proxy", malformed, Buffer.from("PROXY TCP4 10.0.0.1 10.0.0.2 1 2\r\n"), bytesOf(anonymous)),
];
