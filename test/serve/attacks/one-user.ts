/** A server for one user without tokens: no other machine and no web page reaches it, and nothing names another user. */
import { callTool, initialize, modern, readPlan, readPlanIn, withHeaders } from "./asking.ts";
import { asAlice, refused, row, toolError } from "./attack.ts";
import type { Attack } from "./attack.ts";
import { foreignAttacks, said } from "./headers.ts";

const unexpected = refused("token-unexpected");
const unknownSession = refused("session-unknown", "alice");
const plan = { name: "ReadUserMemory", arguments: { name: "plan" } };

const attacks: readonly Attack[] = [
  ...foreignAttacks,
  said("a form without an origin", refused("body-type", "alice"), ["Content-Type", "text/plain"]),
  said("the victim's token", unexpected, ["Authorization", "Bearer $expired"]),
  said("a password", unexpected, ["Authorization", "Basic Ym9iOng="]),
  said("an empty token", unexpected, ["Authorization", ""]),
  said("headers that name the victim", asAlice, ["X-User-Id", "$user"], ["Cookie", "user=$user"]),
  said("headers that claim another address", asAlice, ["Forwarded", "for=203.0.113.1;host=evil.example"]),
  row("the victim in the query", refused("query-present"), { ...readPlan, target: "/mcp?user=$user" }),
  row("the victim in the path", refused("path-unknown"), { ...readPlan, target: "/mcp/$user" }),
  row("the victim's session", unknownSession, readPlanIn("$session")),
  row("a session of the attacker's choice", unknownSession, withHeaders(initialize(), ["Mcp-Session-Id", "$user"])),
  row("the victim in _meta", asAlice, modern("tools/call", plan, { userId: "$user" })),
  row(
    "the victim in the arguments",
    toolError("INPUT_INVALID"),
    callTool("ReadUserMemory", { name: "plan", userId: "$user" }),
  ),
  row("the victim's entry", toolError("ENTRY_NOT_FOUND"), callTool("ReadUserMemory", { name: "$entry" })),
];

/** No token is sent unless the attack has one. */
export const oneUserAttacks: readonly Attack[] = attacks.map(({ title, expected, sent }) =>
  row(title, expected, typeof sent === "function" ? sent : { ...sent, isAnonymous: true }),
);
