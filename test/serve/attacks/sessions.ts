/** The victim's sessions and streams, and nonexistent ones, used with alice's token. */
import {
  authorised,
  bare,
  bytesOf,
  initialize,
  inSession,
  modern,
  notification,
  rawInSession,
  readPlan,
  readPlanIn,
  withHeaders,
} from "./asking.ts";
import type { Ask } from "./asking.ts";
import { asAlice, refused, refusedBySdk, row, served } from "./attack.ts";
import type { Attack } from "./attack.ts";
import type { Sent } from "./exchange.ts";
import { claimsOf } from "./forge.ts";
import type { Scene } from "./stage.ts";
import { askOf } from "./withstand.ts";

const unknown = refused("session-unknown", "alice");
const missing = refused("session-missing", "alice");
const repeated = refused("header-repeated");
const expired = refused("token-expired");

/** For endless answers: the client leaves when the answer has begun. */
const untilBegun = (ask: Ask, scene: Scene): Sent => ({
  bytes: [bytesOf(authorised(askOf(ask, scene), scene.alice.token))],
  until: "begun",
});

const theirs = ["Mcp-Session-Id", "$session"] as const;
const own = ["Mcp-Session-Id", "$own"] as const;
const answer = '{"jsonrpc":"2.0","id":1,"result":{"roots":[]}}';

const ofVictim: Readonly<Record<string, Ask>> = {
  "a call in the victim's": readPlanIn("$session"),
  "the list of entries in the victim's": inSession("resources/list", {}, "$session"),
  "a subscription in the victim's": inSession("resources/subscribe", { uri: "memory://index" }, "$session"),
  "a cancellation in the victim's": notification("notifications/cancelled", { requestId: 1 }, "$session"),
  "the end of its handshake": notification("notifications/initialized", {}, "$session"),
  "the handshake again in the victim's": withHeaders(initialize(), theirs),
  "an answer in the victim's": rawInSession(answer, "$session"),
  "the victim's stream": bare("GET", theirs),
  "the victim's stream, from its first event": bare("GET", theirs, ["Last-Event-ID", "0"]),
  "the end of the victim's": bare("DELETE", theirs),
};

const ids: Readonly<Record<string, string>> = {
  "without a name": "",
  "in quotes": '"$session"',
  "in braces": "{$session}",
  "by a path": "$own/../x",
  "of zeros": "00000000-0000-0000-0000-000000000000",
  "by a number": "1",
  "by a star": "*",
  "by __proto__": "__proto__",
  "by constructor": "constructor",
  "by the victim's id": "$user",
  "by alice's and the victim's, with a comma": "$own, $session",
  "by alice's twice": "$own,$own",
  "of 8,000 characters": "a".repeat(8_000),
};

const changedIds: Readonly<Record<string, (session: string) => string>> = {
  "in capitals": (session) => session.toUpperCase(),
  "without dashes": (session) => session.replaceAll("-", ""),
  "by its first half": (session) => session.slice(0, 18),
  "by the part in the audit log": (session) => session.slice(0, 8),
};

const withOwnExpired = (title: string, ask: Ask): Attack =>
  row(title, expired, ({ forge }) =>
    withHeaders(ask, ["Authorization", `Bearer ${forge.issued({ ...claimsOf("alice"), exp: 1 })}`]),
  );

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
  row("alice's and the victim's", repeated, {
    ...readPlanIn("$own"),
    headers: [...readPlanIn("$own").headers, theirs],
  }),
  row("the victim's and alice's", repeated, {
    ...readPlanIn("$session"),
    headers: [...readPlanIn("$session").headers, ["mcp-session-id", "$own"]],
  }),
  row(
    "alice's, and the victim's in other headers",
    asAlice,
    withHeaders(
      readPlanIn("$own"),
      ["Session-Id", "$session"],
      ["X-Mcp-Session-Id", "$session"],
      ["Mcp_Session_Id", "$session"],
      ["Cookie", "Mcp-Session-Id=$session"],
    ),
  ),
  row(
    "alice's, and the victim's in the message",
    asAlice,
    inSession("tools/call", {
      name: "ReadUserMemory",
      arguments: { name: "plan" },
      sessionId: "$session",
      _meta: { sessionId: "$session" },
    }),
  ),
  withOwnExpired("alice's, with her own expired token", readPlanIn("$own")),
  withOwnExpired("alice's stream, with her own expired token", bare("GET", own)),
];

const opened = served(200, []);
const named = { userId: "$user", sessionId: "$session", _meta: { userId: "$user", sub: "$user" } };
const changes = { resourcesListChanged: true, userId: "$user" };
const victimsEntry = { resourceSubscriptions: ["memory://user-memory/entry/$entry"] };

const handshakes: Attack[] = [
  row("a session of the attacker's choice", unknown, withHeaders(initialize(), ["Mcp-Session-Id", "$user-0000"])),
  row("a client that calls itself the victim", opened, initialize("$user")),
  row("a handshake that names the victim", opened, initialize("attacker", named)),
  row(
    "capabilities that name the victim",
    opened,
    initialize("attacker", { capabilities: { experimental: { user: { id: "$user" } } } }),
  ),
  row("a second handshake in alice's", refusedBySdk(400), withHeaders(initialize("$user"), own)),
  row("a handshake that accepts no answer", refusedBySdk(406), withHeaders(initialize(), ["Accept", "text/html"])),
  row("a handshake too large to keep", refused("body-too-large", "alice"), initialize("x".repeat(16_384))),
];

const streams: Attack[] = [
  row("a second stream of alice's session", refusedBySdk(409), bare("GET", own)),
  row("a stream of alice's from the victim's last event", opened, async (scene) => {
    const session = ["Mcp-Session-Id", await scene.alice.newSession()] as const;
    return untilBegun(bare("GET", session, ["Last-Event-ID", "$session_1"]), scene);
  }),
  row("a stream of 2026 under the name of the victim's", opened, (scene) =>
    untilBegun(modern("subscriptions/listen", { notifications: changes }, { userId: "$user" }), scene),
  ),
  row("a stream of 2026 on the victim's entry", opened, (scene) =>
    untilBegun(modern("subscriptions/listen", { notifications: victimsEntry }), scene),
  ),
  row(
    "a cancellation of the victim's request",
    served(202, []),
    notification("notifications/cancelled", { requestId: 1, reason: "because" }),
  ),
  row("an answer without a request", served(202, []), rawInSession(answer)),
];

export const sessionAttacks: readonly Attack[] = [
  ...Object.entries(ofVictim).map(([title, ask]) => row(title, unknown, ask)),
  ...Object.entries(ids).map(([title, id]) => row(`a session ${title}`, unknown, readPlanIn(id))),
  ...Object.entries(changedIds).map(([title, change]) =>
    row(`a session ${title}`, unknown, ({ session }) => readPlanIn(change(session))),
  ),
  ...mixtures,
  ...handshakes,
  ...streams,
];
