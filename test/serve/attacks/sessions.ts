/** The victim's sessions and streams, and nonexistent ones, used with alice's token. */
import { bare, initialize, inSession, modern, notification, readPlan, readPlanIn, withHeaders } from "./asking.ts";
import { bytesOf } from "./asking.ts";
import type { Ask } from "./asking.ts";
import { asAlice, authorised, badToken, refused, row, served } from "./attack.ts";
import type { Attack } from "./attack.ts";
import { claimsOf } from "./forge.ts";
import type { Sent } from "./http-exchange.ts";
import type { Stage, Victim } from "./stage.ts";

const unknown = refused(404, "session-unknown");
const missing = refused(400, "session-missing");
const repeated = refused(400, "header-repeated", "nobody");

type MakeId = (victim: Victim, stage: Stage) => string;

/** A call in a session that alice does not have. */
const guessed = (title: string, make: MakeId): Attack =>
  row(`a session ${title}`, unknown, (victim, stage) => readPlanIn(make(victim, stage)));

/** For endless answers: the client leaves when the answer has begun. */
const untilBegun = (ask: Ask, { alice }: Stage): Sent => ({
  bytes: [bytesOf(authorised(ask, alice.token))],
  until: "begun",
});

const victims: Attack[] = [
  row("a call in the victim's", unknown, ({ session }) => readPlanIn(session)),
  row("the list of entries in the victim's", unknown, ({ session }) => inSession(session, "resources/list")),
  row("a subscription in the victim's", unknown, ({ session }) =>
    inSession(session, "resources/subscribe", { uri: "memory://index" }),
  ),
  row("a cancellation in the victim's", unknown, ({ session }) =>
    notification(session, "notifications/cancelled", { requestId: 1 }),
  ),
  row("the handshake again in the victim's", unknown, ({ session }) =>
    withHeaders(initialize(), ["Mcp-Session-Id", session]),
  ),
  row("an answer in the victim's", unknown, ({ session }) => ({
    ...readPlanIn(session),
    body: '{"jsonrpc":"2.0","id":1,"result":{}}',
  })),
  row("the victim's stream", unknown, ({ session }) => bare("GET", ["Mcp-Session-Id", session])),
  row("the victim's stream, from its first event", unknown, ({ session }) =>
    bare("GET", ["Mcp-Session-Id", session], ["Last-Event-ID", "0"]),
  ),
  row("the end of the victim's", unknown, ({ session }) => bare("DELETE", ["Mcp-Session-Id", session])),
  row("the victim's, with the victim's expired token", badToken("token-expired"), ({ session, expiredToken }) =>
    withHeaders(readPlanIn(session), ["Authorization", `Bearer ${expiredToken}`]),
  ),
  row("the victim's, without a token", badToken("token-missing"), ({ session }) => ({
    ...readPlanIn(session),
    isAnonymous: true,
  })),
  row("a message of 2026 with the victim's", asAlice, ({ session }) =>
    withHeaders(readPlan, ["Mcp-Session-Id", session]),
  ),
];

const ids: Attack[] = [
  guessed("without a name", () => ""),
  guessed("in capitals", ({ session }) => session.toUpperCase()),
  guessed("without dashes", ({ session }) => session.replaceAll("-", "")),
  guessed("by its first half", ({ session }) => session.slice(0, 18)),
  guessed("by the part in the audit log", ({ session }) => session.slice(0, 8)),
  guessed("in quotes", ({ session }) => `"${session}"`),
  guessed("in braces", ({ session }) => `{${session}}`),
  guessed("by a path", (_victim, { alice }) => `${alice.session}/../x`),
  guessed("of zeros", () => "00000000-0000-0000-0000-000000000000"),
  guessed("by a number", () => "1"),
  guessed("by a star", () => "*"),
  guessed("by __proto__", () => "__proto__"),
  guessed("by constructor", () => "constructor"),
  guessed("by the victim's id", ({ userId }) => userId),
  guessed("by alice's and the victim's, with a comma", ({ session }, { alice }) => `${alice.session}, ${session}`),
  guessed("by alice's twice", (_victim, { alice }) => `${alice.session},${alice.session}`),
  guessed("of 8,000 characters", () => "a".repeat(8_000)),
];

const mixtures: Attack[] = [
  row("no session", missing, () => ({
    ...readPlanIn(""),
    headers: readPlanIn("").headers.filter(([name]) => name !== "Mcp-Session-Id"),
  })),
  row("a stream of no session", missing, () => bare("GET")),
  row("the end of no session", missing, () => bare("DELETE")),
  row("alice's and the victim's", repeated, ({ session }, { alice }) => ({
    ...readPlanIn(alice.session),
    headers: [...readPlanIn(alice.session).headers, ["Mcp-Session-Id", session]],
  })),
  row("the victim's and alice's", repeated, ({ session }, { alice }) => ({
    ...readPlanIn(session),
    headers: [...readPlanIn(session).headers, ["mcp-session-id", alice.session]],
  })),
  row("alice's, and the victim's in other headers", asAlice, ({ session }, { alice }) =>
    withHeaders(
      readPlanIn(alice.session),
      ["Session-Id", session],
      ["X-Mcp-Session-Id", session],
      ["Mcp_Session_Id", session],
      ["Cookie", `Mcp-Session-Id=${session}`],
    ),
  ),
  row("alice's, and the victim's in the message", asAlice, ({ session }, { alice }) =>
    inSession(alice.session, "tools/call", {
      name: "ReadUserMemory",
      arguments: { name: "plan" },
      sessionId: session,
      _meta: { sessionId: session },
    }),
  ),
  row("alice's, with her own expired token", badToken("token-expired"), (_victim, { alice, forge }) =>
    withHeaders(readPlanIn(alice.session), [
      "Authorization",
      `Bearer ${forge.issued({ ...claimsOf("alice"), exp: 1 })}`,
    ]),
  ),
  row("alice's stream, with her own expired token", badToken("token-expired"), (_victim, { alice, forge }) =>
    withHeaders(bare("GET", ["Mcp-Session-Id", alice.session]), [
      "Authorization",
      `Bearer ${forge.issued({ ...claimsOf("alice"), exp: 1 })}`,
    ]),
  ),
];

const handshakes: Attack[] = [
  row("a session of the attacker's choice", unknown, ({ userId }) =>
    withHeaders(initialize(), ["Mcp-Session-Id", `${userId}-0000`]),
  ),
  row("a client that calls itself the victim", served(200, []), ({ userId }) => initialize(userId)),
  row("a handshake that names the victim", served(200, []), ({ userId, session }) =>
    initialize("attacker", { userId, sessionId: session, _meta: { userId, sub: userId, "memcell/user": userId } }),
  ),
  row("capabilities that name the victim", served(200, []), ({ userId }) =>
    initialize("attacker", { capabilities: { experimental: { user: { id: userId } } } }),
  ),
  row("a second handshake in alice's", refused(400, "mcp-400"), ({ userId }, { alice }) =>
    withHeaders(initialize(userId), ["Mcp-Session-Id", alice.session]),
  ),
];

const streams: Attack[] = [
  row("a second stream of alice's session", refused(409, "mcp-409"), (_victim, { alice }) =>
    bare("GET", ["Mcp-Session-Id", alice.session]),
  ),
  row("a stream of alice's from the victim's last event", served(200, []), async ({ session }, stage) =>
    untilBegun(
      bare("GET", ["Mcp-Session-Id", await stage.alice.newSession()], ["Last-Event-ID", `${session}_1`]),
      stage,
    ),
  ),
  row("a stream of 2026 under the name of the victim's", served(200, []), ({ userId }, stage) =>
    untilBegun(
      modern("subscriptions/listen", { notifications: { resourcesListChanged: true, userId } }, { userId }),
      stage,
    ),
  ),
  row("a stream of 2026 on the victim's entry", served(200, []), ({ entry }, stage) =>
    untilBegun(
      modern("subscriptions/listen", {
        notifications: { resourceSubscriptions: [`memory://user-memory/entry/${entry}`] },
      }),
      stage,
    ),
  ),
  row("a cancellation of the victim's request", served(202, []), (_victim, { alice }) =>
    notification(alice.session, "notifications/cancelled", { requestId: 1, reason: "because" }),
  ),
  row("an answer without a request", served(202, []), (_victim, { alice }) => ({
    ...readPlanIn(alice.session),
    body: '{"jsonrpc":"2.0","id":1,"result":{"roots":[]}}',
  })),
];

export const sessionAttacks: readonly Attack[] = [...victims, ...ids, ...mixtures, ...handshakes, ...streams];
