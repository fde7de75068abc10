/**
 * What is left of sessions and streams, with alice's token: a session's id, which earlier servers took for a right, means
 * nothing; cancellations and answers reach nobody else; and each stream is the user's own.
 */
import {
  authorised,
  bare,
  bytesOf,
  inSession,
  initialize,
  modern,
  notification,
  rawInSession,
  readPlan,
  readPlanIn,
  withHeaders,
} from "./asking.ts";
import { asAlice, refused, row, served, unknownMethod } from "./attack.ts";
import type { Attack } from "./attack.ts";
import type { Sent } from "./exchange.ts";
import { claimsOf } from "./forge.ts";
import { askOf } from "./withstand.ts";

const expired = refused("token-expired");
const noMethod = refused("method-unknown", "alice");
const nothing = served(202, []);
const opened = served(200, []);

const theirs = ["Mcp-Session-Id", "$session"] as const;
const answer = '{"jsonrpc":"2.0","id":1,"result":{"roots":[]}}';
const plan = { name: "ReadUserMemory", arguments: { name: "plan" } };

const ids = [
  ["", '"$session"', "$own/../x", "$session", "00000000-0000-0000-0000-000000000000", "*", "__proto__", "$user"],
  ["$own, $session", "$own,$own", "a".repeat(8_000)],
].flat();

const withIds: Attack[] = [
  ...ids.map((id) => row(`the session ${JSON.stringify(id).slice(0, 40)}`, asAlice, readPlanIn(id))),
  row("the victim's session, in 2026", asAlice, withHeaders(readPlan, theirs)),
  row("two sessions", asAlice, { ...readPlanIn("$own"), headers: [...readPlanIn("$own").headers, theirs] }),
  row("the victim's session in the message", asAlice, inSession("tools/call", { ...plan, sessionId: "$session" })),
  row("the victim's session, without a token", refused("token-missing"), {
    ...readPlanIn("$session"),
    isAnonymous: true,
  }),
  row(
    "the victim's session, with the victim's expired token",
    expired,
    withHeaders(readPlanIn("$session"), ["Authorization", "Bearer $expired"]),
  ),
  row("the victim's stream", noMethod, bare("GET", theirs)),
  row("the victim's stream, from its first event", noMethod, bare("GET", theirs, ["Last-Event-ID", "0"])),
  row("the end of the victim's session", noMethod, bare("DELETE", theirs)),
  row("a stream with alice's expired token", expired, ({ forge }) => {
    const token = forge.issued({ ...claimsOf("alice"), exp: 1 });
    return withHeaders(bare("GET", theirs), ["Authorization", `Bearer ${token}`]);
  }),
];

const named = { userId: "$user", sessionId: "$session", _meta: { userId: "$user", sub: "$user" } };

const handshakes: Attack[] = [
  row("the handshake again, in the victim's session", opened, withHeaders(initialize(), theirs)),
  row("a client that calls itself the victim", opened, initialize("$user")),
  row("a handshake that names the victim", opened, initialize("attacker", named)),
];

const listen = (title: string, notifications: object): Attack =>
  row(title, opened, (scene): Sent => {
    const ask = modern("subscriptions/listen", { notifications }, { userId: "$user" });
    // The answer is endless: the client leaves when it has begun.
    return { bytes: [bytesOf(authorised(askOf(ask, scene), scene.alice.token))], until: "begun" };
  });

const others: Attack[] = [
  row("a subscription in 2025", unknownMethod, inSession("resources/subscribe", { uri: "memory://index" }, "$session")),
  row("a cancellation of the victim's request", nothing, notification("notifications/cancelled", { requestId: 1 })),
  row("an answer without a request", nothing, rawInSession(answer, "$session")),
  listen("a stream under the name of the victim's", { resourcesListChanged: true, userId: "$user" }),
  listen("a stream on the victim's entry", { resourceSubscriptions: ["memory://user-memory/entry/$entry"] }),
];

export const sessionAttacks: readonly Attack[] = [...withIds, ...handshakes, ...others];
