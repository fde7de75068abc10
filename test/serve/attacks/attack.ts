/** One attempt, and what has to come of it. */
import type { Ask } from "./asking.ts";
import { bytesOf } from "./asking.ts";
import type { Sent } from "./http-exchange.ts";
import { aliceBody } from "./stage.ts";
import type { Stage, Victim } from "./stage.ts";

export interface Attack {
  readonly title: string;
  readonly expected: Expected;
  /** What is sent to reach the victim. An `Ask` goes with alice's token, unless it brings another or none. */
  readonly make: (victim: Victim, stage: Stage) => Ask | Sent | Promise<Ask | Sent>;
}

export interface Expected {
  /** Refused, or done as alice: then it must have reached nothing but what is hers. */
  readonly kind: "refused" | "served";
  /** Of the answers, in order. */
  readonly statuses: readonly number[];
  /** What is put on record. */
  readonly records: readonly string[];
  /** On record only after the connection has ended. */
  readonly isLate?: true;
  /** What the last answer says. */
  readonly says?: string | undefined;
}

/** One row of a table: what is tried, what has to come of it, and what is sent. */
export const row = (title: string, expected: Expected, make: Attack["make"]): Attack => ({ title, expected, make });

/** Before anything is called, by the checks of HTTP. */
export const refused = (status: number, reason: string, by: "alice" | "nobody" = "alice"): Expected => ({
  kind: "refused",
  statuses: [status],
  records: [`refused http ${reason} ${by}`],
});

/** With a token that is none. */
export const badToken = (reason: string): Expected => refused(401, reason, "nobody");

/** By the tool, as an error that a model reads. */
export const toolError = (code: string, tool = "ReadUserMemory"): Expected => ({
  kind: "refused",
  statuses: [200],
  records: [`call ${tool} alice ${code}`],
  says: code,
});

/** The call is made, for alice. */
export const asAlice: Expected = {
  kind: "served",
  statuses: [200],
  records: ["call ReadUserMemory alice done"],
  says: aliceBody,
};

/** Anything else that is done for alice. */
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

/** Parameters that MCP does not know so. */
export const unfit: Expected = refusedByMcp("params-unfit");

export const unknownMethod: Expected = refusedByMcp("method-unknown");

/** A URI that is none of the two forms. */
export const unknownResource: Expected = refusedByMcp("resource-unknown");

/** No tool has such a name. */
export const unknownTool = (tool: string, status = 200): Expected => ({
  kind: "refused",
  statuses: [status],
  records: [`call ${tool} alice TOOL_UNKNOWN`],
  says: "-32602",
});

/** What travels for it. */
export function sentFor(made: Ask | Sent, { alice }: Stage): Sent {
  return "bytes" in made ? made : { bytes: [bytesOf(authorised(made, alice.token))] };
}

/** With a token, unless it brings another or none. */
export function authorised(ask: Ask, token: string): Ask {
  const isAuthorised = ask.headers.some(([name]) => name.toLowerCase() === "authorization");
  if (isAuthorised || ask.isAnonymous) return ask;
  return { ...ask, headers: [...ask.headers, ["Authorization", `Bearer ${token}`]] };
}
