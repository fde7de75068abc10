/** One attempt and its expected outcome. */
import type { Ask } from "./asking.ts";
import { bytesOf } from "./asking.ts";
import type { Sent } from "./http-exchange.ts";
import { aliceBody } from "./stage.ts";
import type { Stage, Victim } from "./stage.ts";

export interface Attack {
  readonly title: string;
  readonly expected: Expected;
  /** Makes what is sent to reach the victim. An `Ask` gets alice's token, unless it has another or asks for none. */
  readonly make: (victim: Victim, stage: Stage) => Ask | Sent | Promise<Ask | Sent>;
}

export interface Expected {
  /** Refused, or done as alice. In the second case it must reach only what is hers. */
  readonly kind: "refused" | "served";
  /** The answers' status codes, in order. */
  readonly statuses: readonly number[];
  /** The audit records that it causes. */
  readonly records: readonly string[];
  /** Recorded only after the connection has ended. */
  readonly isLate?: true;
  /** A part of the last answer. */
  readonly says?: string | undefined;
}

/** One row of a table: what is tried, the expected outcome, and what is sent. */
export const row = (title: string, expected: Expected, make: Attack["make"]): Attack => ({ title, expected, make });

/** Refused by the HTTP checks, before anything is called. */
export const refused = (status: number, reason: string, by: "alice" | "nobody" = "alice"): Expected => ({
  kind: "refused",
  statuses: [status],
  records: [`refused http ${reason} ${by}`],
});

/** Refused for an invalid token. */
export const badToken = (reason: string): Expected => refused(401, reason, "nobody");

/** Refused by the tool, with an error that a model reads. */
export const toolError = (code: string, tool = "ReadUserMemory"): Expected => ({
  kind: "refused",
  statuses: [200],
  records: [`call ${tool} alice ${code}`],
  says: code,
});

/** The call is made for alice. */
export const asAlice: Expected = {
  kind: "served",
  statuses: [200],
  records: ["call ReadUserMemory alice done"],
  says: aliceBody,
};

/** Any other request that is served for alice. */
export const served = (status: number, records: readonly string[], says?: string): Expected => ({
  kind: "served",
  statuses: [status],
  records,
  says,
});

const refusedByMcp = (reason: string): Expected => ({
  kind: "refused",
  statuses: [200],
  records: [`refused mcp ${reason} alice`],
  says: '"error":{"code":-32',
});

/** Parameters that do not fit the MCP schema. */
export const unfit: Expected = refusedByMcp("params-unfit");

export const unknownMethod: Expected = refusedByMcp("method-unknown");

/** A URI of neither of the two forms. */
export const unknownResource: Expected = refusedByMcp("resource-unknown");

/** No tool has this name. */
export const unknownTool = (tool: string, status = 200): Expected => ({
  kind: "refused",
  statuses: [status],
  records: [`call ${tool} alice TOOL_UNKNOWN`],
  says: "-32602",
});

/** The bytes that are sent. */
export function sentFor(made: Ask | Sent, { alice }: Stage): Sent {
  return "bytes" in made ? made : { bytes: [bytesOf(authorised(made, alice.token))] };
}

/** Adds the token, unless the request has another or asks for none. */
export function authorised(ask: Ask, token: string): Ask {
  const isAuthorised = ask.headers.some(([name]) => name.toLowerCase() === "authorization");
  if (isAuthorised || ask.isAnonymous) return ask;
  return { ...ask, headers: [...ask.headers, ["Authorization", `Bearer ${token}`]] };
}
