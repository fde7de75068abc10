/** A server for one user without tokens: no other machine and no web page reaches it, and nothing names another user. */
import { callTool, modern, readPlan, readPlanIn } from "./asking.ts";
import { asAlice, refused, row, toolError } from "./attack.ts";
import type { Attack } from "./attack.ts";
import { foreignAttacks, said } from "./headers.ts";

const unexpected = refused("token-unexpected");
const plan = { name: "ReadUserMemory", arguments: { name: "plan" } };

const attacks: readonly Attack[] = [
  ...foreignAttacks,
  said("a form without an origin", refused("body-type", "alice"), ["Content-Type", "text/plain"]),
  said("the victim's token", unexpected, ["Authorization", "Bearer $expired"]),
  said("an empty token", unexpected, ["Authorization", ""]),
  said("headers that name the victim", asAlice, ["X-User-Id", "$user"], ["Cookie", "user=$user"]),
  row("the victim in the path", refused("path-unknown"), { ...readPlan, target: "/mcp/$user" }),
  row("the victim's session", asAlice, readPlanIn("$session")),
  row("the victim in _meta", asAlice, modern("tools/call", plan, { userId: "$user" })),
  row("the victim's entry", toolError("ENTRY_NOT_FOUND"), callTool("ReadUserMemory", { name: "$entry" })),
];

/** No token is sent unless the attack has one. */
export const oneUserAttacks: readonly Attack[] = attacks.map(({ title, expected, sent }) =>
  row(title, expected, typeof sent === "function" ? sent : { ...sent, isAnonymous: true }),
);
