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

const lengths = [`${length}, ${length}`, `+${length}`, "0x10", "18446744073709551626"];
const oddHeaders: readonly HeaderLine[] = [
  ["X-Folded", "a\r\n Authorization: Bearer b"],
  ["X-Feed", "a\n Authorization: Bearer b"],
  ["X-Nul", "a\0b"],
];

const withTrailer = (trailer: string): string => chunked(plain).replace(/\r\n$/, `${trailer}\r\n\r\n`);
const announced = ["Trailer", "Authorization"] as const;

const framing: Attack[] = [
  framed("a length and chunks", malformed, chunked(plain), ["Content-Length", length], chunks),
  framed("chunks that are not the last encoding", malformed, chunked(plain), [chunks[0], "chunked, identity"]),
  framed("chunks in other letters", malformedBody, chunked(plain), [chunks[0], "xchunked"]),
  framed("a space behind the header's name", malformed, chunked(plain), ["Transfer-Encoding ", "chunked"]),
  framed("two lengths", malformed, plain, ["Content-Length", length], ["content-length", "4"]),
  ...lengths.map((each) => framed(`the length ${each}`, malformed, plain, ["Content-Length", each])),
  framed("a chunk beyond 64 bits", malformedBody, "ffffffffffffffff1\r\nx", chunks),
  framed("an invalid chunk length", malformedBody, `0x${chunked(plain)}`, chunks),
  ...oddHeaders.map((header) => framed(`the header ${JSON.stringify(header)}`, malformed, plain, header)),
  framed("headers of 17 KB", tooLong, plain, ["X-Long", "a".repeat(17_000)]),
  framed("another length after the chunks", malformedBody, withTrailer("Content-Length: 4"), chunks),
  framed("chunks alone", asAlice, chunked(plain), chunks),
  framed("a token after the body", asAlice, withTrailer("Authorization: Bearer $expired"), chunks, announced),
];

/** One of several requests on a connection, with its answer. */
type Part = readonly [ask: Ask, status: number, ...records: readonly string[]];

const expired = ["Authorization", "Bearer $expired"] as const;
const asExpired = withHeaders(readPlan, expired);
const anonymous: Ask = { ...readPlan, isAnonymous: true };
/** A whole request of the victim, inside another. */
const hidden = bytesOf(asExpired).toString();

const hiding = (more: Partial<Ask> = {}): Ask => ({ ...readPlan, ...more, body: hidden });
const cutShort = (ask: Ask): Part => [ask, 400, ...malformedBody.records];

/** Sent with a good token of the victim. */
const ofVictim: Part = [modern("tools/list"), 200];
const ofAlice: Part = [readPlan, 200, "call ReadUserMemory alice done"];
const ofNobody: Part = [anonymous, 401, "refused http token-missing nobody"];
const unfitBody = "refused http body-unfit alice";
const get = { method: "GET" } as const;

/** Those without a token get alice's. The last one closes the connection. */
const connections: Readonly<Record<string, readonly Part[]>> = {
  "a request in the victim's session after the victim's": [
    ofVictim,
    [readPlanIn("$session"), 200, "call ReadUserMemory alice done"],
  ],
  "no token after alice's": [ofAlice, ofNobody],
  "alice's request between the victim's": [ofVictim, ofAlice, ofVictim],
  "a request as the body": [[hiding(), 400, unfitBody]],
  "a request as the body of GET": [[hiding(get), 405, "refused http method-unknown alice"], ofAlice],
  "a request as the body of one without a token": [
    [hiding({ isAnonymous: true }), 401, "refused http token-missing nobody"],
    ofAlice,
  ],
  "a request as the body of the health check": [[hiding({ ...get, target: "/healthz" }), 200], ofAlice],
  "a request in the name of a chunk": [
    cutShort(withHeaders({ ...readPlan, body: chunked(plain).replace("\r\n", () => `;${hidden}\r\n`) }, chunks)),
  ],
  "a request after a body with a shorter declared length": [
    [withHeaders({ ...readPlan, body: "{}x" }, ["Content-Length", "3"]), 400, unfitBody],
    [asExpired, 401, "refused http token-expired nobody"],
  ],
  "half a message, and what is left as a request": [
    cutShort(withHeaders(readPlan, ["Content-Length", "10"], ["Connection", "keep-alive"])),
  ],
};

const connectionAttacks: readonly Attack[] = Object.entries(connections).map(([title, parts]) => {
  const statuses = parts.map(([, status]) => status);
  const kind = statuses.some((status) => status !== 200) ? "refused" : "served";
  const expected: Expected = { kind, statuses, records: parts.flatMap(([, , ...records]) => records) };
  return row(title, expected, (scene): Sent => {
    const good = ["Authorization", `Bearer ${scene.forge.issued(claimsOf(scene.userId))}`] as const;
    const sent = parts.map((each) => askOf(each === ofVictim ? withHeaders(each[0], good) : each[0], scene));
    const open = sent.slice(0, -1).map((ask) => withHeaders(ask, ["Connection", "keep-alive"]));
    return { bytes: [Buffer.concat([...open, ...sent.slice(-1)].map(bytesOf))] };
  });
});

/** Alice's request as text, changed. */
const rewritten = (title: string, expected: Expected, change: (text: string) => string): Attack =>
  row(title, expected, ({ alice }): Sent => ({
    bytes: [Buffer.from(change(bytesOf(authorised(readPlan, alice.token)).toString()))],
  }));
const raw = (title: string, expected: Expected, ...bytes: readonly Buffer[]): Attack =>
  row(title, expected, (): Sent => ({ bytes }));

const noHost = refused("host-unknown");
const withoutHost = (text: string): string => text.replace("Host: 127.0.0.1\r\n", "");

export const smugglingAttacks: readonly Attack[] = [
  ...framing,
  ...connectionAttacks,
  rewritten("no version that there is", malformed, (text) => text.replace("HTTP/1.1", "HTTP/1.2")),
  rewritten("no host, in HTTP/1.0", noHost, (text) => withoutHost(text).replace("HTTP/1.1", "HTTP/1.0")),
  raw("headers without an end", tooLong, Buffer.from(`GET /mcp HTTP/1.1\r\nx: ${"x".repeat(17_000)}`)),
  raw("HTTP/2 without negotiation", malformed, Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")),
  raw("TLS", malformed, Buffer.from([0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00, 0x01, 0xfc, 0x03, 0x03])),
  raw("the line of a proxy", malformed, Buffer.from("PROXY TCP4 10.0.0.1 10.0.0.2 1 2\r\n"), bytesOf(anonymous)),
];
