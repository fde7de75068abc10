/** Requests hidden in other requests, and connections that a proxy shares between users. */
import { bytesOf, modern, readPlan, readPlanIn, withHeaders } from "./asking.ts";
import type { Ask, HeaderLine } from "./asking.ts";
import { asAlice, authorised, refused, row } from "./attack.ts";
import type { Attack, Expected } from "./attack.ts";
import { claimsOf } from "./forge.ts";
import type { Sent } from "./http-exchange.ts";
import type { Stage, Victim } from "./stage.ts";

const malformed = refused(400, "http-malformed", "nobody");

/** If the head is valid, alice is admitted before the body proves malformed. */
const malformedBody: Expected = {
  kind: "refused",
  statuses: [400],
  records: ["refused http http-malformed nobody", "refused http body-cut alice"],
  isLate: true,
};

/** Alice's call with other framing. Headers replace those of the same name. */
const framed = (
  title: string,
  expected: Expected,
  headers: readonly HeaderLine[],
  body?: (plain: string) => string,
): Attack =>
  row(title, expected, () => {
    const plain = String(readPlan.body);
    return withHeaders({ ...readPlan, body: body?.(plain) ?? plain }, ...headers);
  });

const chunked = (text: string): string => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n0\r\n\r\n`;
const length = String(Buffer.byteLength(readPlan.body));

const framing: Attack[] = [
  framed(
    "a length and chunks",
    malformed,
    [
      ["Content-Length", length],
      ["Transfer-Encoding", "chunked"],
    ],
    chunked,
  ),
  framed(
    "chunks and a length",
    malformed,
    [
      ["Transfer-Encoding", "chunked"],
      ["Content-Length", "4"],
    ],
    chunked,
  ),
  framed("chunks that are not the last encoding", malformed, [["Transfer-Encoding", "chunked, identity"]], chunked),
  framed("chunks in other letters", malformedBody, [["Transfer-Encoding", "xchunked"]], chunked),
  framed("chunks after a tab", malformed, [["Transfer-Encoding", "\tchunked\u000b"]], chunked),
  framed("a space behind the header's name", malformed, [["Transfer-Encoding ", "chunked"]], chunked),
  framed(
    "two lengths",
    malformed,
    [
      ["Content-Length", length],
      ["content-length", "4"],
    ].map(([name, value]): HeaderLine => [name ?? "", value ?? ""]),
  ),
  framed("lengths in a list", malformed, [["Content-Length", `${length}, ${length}`]]),
  framed("a length with a sign", malformed, [["Content-Length", `+${length}`]]),
  framed("a length below zero", malformed, [["Content-Length", "-1"]]),
  framed("a length in hexadecimal", malformed, [["Content-Length", "0x10"]]),
  framed("a length beyond 64 bits", malformed, [["Content-Length", "18446744073709551626"]]),
  framed("a chunk beyond 64 bits", malformedBody, [["Transfer-Encoding", "chunked"]], () => "ffffffffffffffff1\r\nx"),
  framed(
    "an invalid chunk length",
    malformedBody,
    [["Transfer-Encoding", "chunked"]],
    (plain) => `0x${chunked(plain)}`,
  ),
  framed("a line that is folded", malformed, [["X-Folded", "a\r\n Authorization: Bearer b"]]),
  framed("a carriage return in a header", malformed, [["X-Return", "a\rAuthorization: Bearer b"]]),
  framed("a line feed in a header", malformed, [["X-Feed", "a\n Authorization: Bearer b"]]),
  framed("NUL in a header", malformed, [["X-Nul", "a\0b"]]),
  framed("a header without a name", malformed, [["", "a"]]),
  framed("headers of 17 KB", { ...malformed, statuses: [431] }, [["X-Long", "a".repeat(17_000)]]),
  framed("another length after the chunks", malformedBody, [["Transfer-Encoding", "chunked"]], (plain) =>
    chunked(plain).replace(/\r\n$/, "Content-Length: 4\r\n\r\n"),
  ),
  framed("chunks alone", asAlice, [["Transfer-Encoding", "chunked"]], chunked),
  framed("chunks in capitals", asAlice, [["Transfer-Encoding", "CHUNKED"]], chunked),
];

const trailer = (title: string, make: (victim: Victim) => string): Attack =>
  row(title, asAlice, (victim) =>
    withHeaders(
      { ...readPlan, body: chunked(String(readPlan.body)).replace(/\r\n$/, `${make(victim)}\r\n\r\n`) },
      ["Transfer-Encoding", "chunked"],
      ["Trailer", "Authorization"],
    ),
  );

const trailers: Attack[] = [
  trailer("the victim's token after the body", ({ expiredToken }) => `Authorization: Bearer ${expiredToken}`),
  trailer("the victim's session after the body", ({ session }) => `Mcp-Session-Id: ${session}`),
];

type MakeAsks = (victim: Victim, stage: Stage) => readonly Ask[];

/** Several requests on one connection. Those without a token get alice's. The last one closes the connection. */
const oneConnection = (title: string, expected: Expected, make: MakeAsks): Attack =>
  row(title, expected, (victim, stage): Sent => {
    const asks = make(victim, stage).map((ask) => authorised(ask, stage.alice.token));
    const open = asks.slice(0, -1).map((ask) => withHeaders(ask, ["Connection", "keep-alive"]));
    return { bytes: [Buffer.concat([...open, ...asks.slice(-1)].map(bytesOf))] };
  });

const of = (kind: Expected["kind"], statuses: readonly number[], ...records: readonly string[]): Expected => ({
  kind,
  statuses,
  records,
});

const read = "call ReadUserMemory alice done";
const noToken = "refused http token-missing nobody";
const anonymous: Ask = { ...readPlan, isAnonymous: true };
const listTools = modern("tools/list");

const asVictim = (ask: Ask, { userId }: Victim, { forge }: Stage): Ask =>
  authorised(ask, forge.issued(claimsOf(userId)));

/** A whole request of the victim, inside another. */
const hidden = ({ expiredToken }: Victim): string =>
  bytesOf(withHeaders(readPlan, ["Authorization", `Bearer ${expiredToken}`])).toString();

const shared: Attack[] = [
  oneConnection("alice's request after the victim's", of("served", [200, 200], read), (victim, stage) => [
    asVictim(listTools, victim, stage),
    readPlan,
  ]),
  oneConnection("a request without a token after the victim's", of("refused", [200, 401], noToken), (victim, stage) => [
    asVictim(listTools, victim, stage),
    anonymous,
  ]),
  oneConnection(
    "a request in the victim's session after the victim's",
    of("refused", [200, 404], "refused http session-unknown alice"),
    (victim, stage) => [asVictim(listTools, victim, stage), readPlanIn(victim.session)],
  ),
  oneConnection("a request without a token after alice's", of("refused", [200, 401], read, noToken), () => [
    readPlan,
    anonymous,
  ]),
  oneConnection(
    "a request with the victim's expired token after alice's",
    of("refused", [200, 401], read, "refused http token-expired nobody"),
    ({ expiredToken }) => [readPlan, withHeaders(readPlan, ["Authorization", `Bearer ${expiredToken}`])],
  ),
  oneConnection("alice's request between the victim's", of("served", [200, 200, 200], read), (victim, stage) => [
    asVictim(listTools, victim, stage),
    readPlan,
    asVictim(listTools, victim, stage),
  ]),
];

const inBodies: Attack[] = [
  oneConnection("a request as the body", refused(400, "body-unfit"), (victim) => [
    { ...readPlan, body: hidden(victim) },
  ]),
  oneConnection(
    "a request as the body of GET",
    of("refused", [400, 200], "refused http session-missing alice", read),
    (victim) => [{ ...readPlan, method: "GET", body: hidden(victim) }, readPlan],
  ),
  oneConnection(
    "a request as the body of an unknown path",
    of("refused", [404, 200], "refused http path-unknown nobody", read),
    (victim) => [{ ...readPlan, target: "/nothing", body: hidden(victim) }, readPlan],
  ),
  oneConnection("a request as the body of one without a token", of("refused", [401, 200], noToken, read), (victim) => [
    { ...anonymous, body: hidden(victim) },
    readPlan,
  ]),
  oneConnection("a request as the body of the health check", of("served", [200, 200], read), (victim) => [
    { ...readPlan, method: "GET", target: "/healthz", body: hidden(victim) },
    readPlan,
  ]),
  oneConnection("a request in the name of a chunk", malformedBody, (victim) => [
    withHeaders({ ...readPlan, body: chunked(String(readPlan.body)).replace("\r\n", `;${hidden(victim)}\r\n`) }, [
      "Transfer-Encoding",
      "chunked",
    ]),
  ]),
  oneConnection(
    "a request after a body with a shorter declared length",
    of("refused", [400, 401], "refused http body-unfit alice", "refused http token-expired nobody"),
    (victim) => [
      withHeaders({ ...readPlan, body: `{}x` }, ["Content-Length", "3"]),
      withHeaders(readPlan, ["Authorization", `Bearer ${victim.expiredToken}`]),
    ],
  ),
  oneConnection("half a message, and what is left as a request", malformedBody, () => [
    withHeaders(readPlan, ["Content-Length", "10"], ["Connection", "keep-alive"]),
  ]),
];

/** None of the versions that Node's parser knows changes the framing that the length gives. */
const knownVersions = ["HTTP/0.9", "HTTP/2.0"];
const otherVersions = ["HTTP/1.2", "HTTP/3", "HTP/1.1", "HTTP/1.1x"];

const versions: Attack[] = [...knownVersions, ...otherVersions].map((version) =>
  row(`the version ${version}`, knownVersions.includes(version) ? asAlice : malformed, (_victim, { alice }): Sent => ({
    bytes: [Buffer.from(bytesOf(authorised(readPlan, alice.token)).toString().replace("HTTP/1.1", version))],
  })),
);

const beginnings: Attack[] = [
  row("HTTP/2 without negotiation", malformed, (): Sent => ({
    bytes: [Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")],
  })),
  row("TLS", malformed, (): Sent => ({
    bytes: [Buffer.from([0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00, 0x01, 0xfc, 0x03, 0x03])],
  })),
  row("the line of a proxy", malformed, (): Sent => ({
    bytes: [Buffer.from("PROXY TCP4 10.0.0.1 10.0.0.2 1 2\r\n"), bytesOf(anonymous)],
  })),
  row("no host", refused(403, "host-unknown", "nobody"), (_victim, { alice }): Sent => ({
    bytes: [Buffer.from(bytesOf(authorised(readPlan, alice.token)).toString().replace("Host: 127.0.0.1\r\n", ""))],
  })),
  row("no host, in HTTP/1.0", refused(403, "host-unknown", "nobody"), (_victim, { alice }): Sent => ({
    bytes: [
      Buffer.from(
        bytesOf(authorised(readPlan, alice.token))
          .toString()
          .replace("Host: 127.0.0.1\r\n", "")
          .replace("HTTP/1.1", "HTTP/1.0"),
      ),
    ],
  })),
];

export const smugglingAttacks: readonly Attack[] = [...framing, ...trailers, ...versions, ...beginnings];
export const connectionAttacks: readonly Attack[] = [...shared, ...inBodies];
