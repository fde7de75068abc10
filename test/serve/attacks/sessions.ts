/** The victim's sessions and streams, and nonexistent ones, used with alice's token. */
import { openSession } from "../../stage/http-requests.ts";
import { authorised, bare, bytesOf, initialize, inSession, modern, notification } from "./asking.ts";
import { rawInSession, readPlan, readPlanIn, withHeaders } from "./asking.ts";
import type { Ask } from "./asking.ts";
import { asAlice, refused, refusedBySdk, row, served } from "./attack.ts";
import type { Attack } from "./attack.ts";
import type { Sent } from "./exchange.ts";
import { claimsOf } from "./forge.ts";
import type { Scene } from "./stage.ts";
import { askOf } from "./withstand.ts";

const unknown = refused("session-unknown", "alice");
const missing = refused("session-missing", "alice");
const expired = refused("token-expired");

/** For endless answers: the client leaves when the answer has begun. */
const untilBegun = (ask: Ask, scene: Scene): Sent => ({
  bytes: [bytesOf(authorised(askOf(ask, scene), scene.alice.token))],
  until: "begun",
});

const theirs = ["Mcp-Session-Id", "$session"] as const;
const own = ["Mcp-Session-Id", "$own"] as const;
const answer = '{"jsonrpc":"2.0","id":1,"result":{"roots":[]}}';
const plan = { name: "ReadUserMemory", arguments: { name: "plan" } };

/** Requests in the victim's session. */
const ofVictim: Readonly<Record<string, Ask>> = {
  "a call": readPlanIn("$session"),
  "a subscription": inSession("resources/subscribe", { uri: "memory://index" }, "$session"),
  "a cancellation": notification("notifications/cancelled", { requestId: 1 }, "$session"),
  "the handshake again": withHeaders(initialize(), theirs),
  "an answer": rawInSession(answer, "$session"),
  "its stream": bare("GET", theirs),
  "its stream, from its first event": bare("GET", theirs, ["Last-Event-ID", "0"]),
  "its end": bare("DELETE", theirs),
};

const ids = [
  ["", '"$session"', "$own/../x", "00000000-0000-0000-0000-000000000000", "*", "__proto__", "$user"],
  ["$own, $session", "$own,$own", "a".repeat(8_000)],
].flat();

const changedIds: Readonly<Record<string, (session: string) => string>> = {
  "in capitals": (session) => session.toUpperCase(),
  "without dashes": (session) => session.replaceAll("-", ""),
  "by the part in the audit log": (session) => session.slice(0, 8),
};

const mixtures: Attack[] = [
  row(
    "the victim's, with the victim's expired token",
    expired,
    withHeaders(readPlanIn("$session"), ["Authorization", "Bearer $expired"]),
  ),
  row("the victim's, without a token", refused("token-missing"), { ...readPlanIn("$session"), isAnonymous: true }),
  row("a message of 2026 with the victim's", asAlice, withHeaders(readPlan, theirs)),
  row("no session", missing, { ...readPlanIn(""), headers: readPlanIn("").headers.slice(0, -1) }),
  row("a stream of no session", missing, bare("GET")),
  row("the end of no session", missing, bare("DELETE")),
  row("alice's and the victim's", refused("header-repeated"), {
    ...readPlanIn("$own"),
    headers: [...readPlanIn("$own").headers, theirs],
  }),
  row(
    "alice's, and the victim's in other headers",
    asAlice,
    withHeaders(readPlanIn("$own"), ["X-Mcp-Session-Id", "$session"], ["Cookie", "Mcp-Session-Id=$session"]),
  ),
  row("alice's, and the victim's in the message", asAlice, inSession("tools/call", { ...plan, sessionId: "$session" })),
  row("alice's stream, with her own expired token", expired, ({ forge }) => {
    const token = forge.issued({ ...claimsOf("alice"), exp: 1 });
    return withHeaders(bare("GET", own), ["Authorization", `Bearer ${token}`]);
  }),
];

const opened = served(200, []);
const named = { userId: "$user", sessionId: "$session", _meta: { userId: "$user", sub: "$user" } };

const handshakes: Attack[] = [
  row("a session of the attacker's choice", unknown, withHeaders(initialize(), ["Mcp-Session-Id", "$user-0000"])),
  row("a client that calls itself the victim", opened, initialize("$user")),
  row("a handshake that names the victim", opened, initialize("attacker", named)),
  row("a second handshake in alice's", refusedBySdk(400), withHeaders(initialize("$user"), own)),
  row("a handshake too large to keep", refused("body-too-large", "alice"), initialize("x".repeat(16_384))),
];

const listen = (title: string, notifications: object): Attack =>
  row(title, opened, (scene) =>
    untilBegun(modern("subscriptions/listen", { notifications }, { userId: "$user" }), scene),
  );

const streams: Attack[] = [
  row("a second stream of alice's session", refusedBySdk(409), bare("GET", own)),
  row("a stream of alice's from the victim's last event", opened, async (scene) => {
    const session = ["Mcp-Session-Id", await openSession(scene.server, scene.alice.token)] as const;
    return untilBegun(bare("GET", session, ["Last-Event-ID", "$session_1"]), scene);
  }),
  listen("a stream of 2026 under the name of the victim's", { resourcesListChanged: true, userId: "$user" }),
  listen("a stream of 2026 on the victim's entry", {
    resourceSubscriptions: ["memory://user-memory/entry/$entry"],
  }),
  row(
    "a cancellation of the victim's request",
    served(202, []),
    notification("notifications/cancelled", { requestId: 1 }),
  ),
  row("an answer without a request", served(202, []), rawInSession(answer)),
];

export const sessionAttacks: readonly Attack[] = [
  ...Object.entries(ofVictim).map(([title, ask]) => row(`${title}, in the victim's session`, unknown, ask)),
  ...ids.map((id) => row(`the session ${JSON.stringify(id).slice(0, 40)}`, unknown, readPlanIn(id))),
  ...Object.entries(changedIds).map(([title, change]) =>
    row(`the victim's session ${title}`, unknown, ({ session }) => readPlanIn(change(session))),
  ),
  ...mixtures,
  ...handshakes,
  ...streams,
];
