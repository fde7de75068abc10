/** One attempt and its expected outcome. */
import { refusals } from "../../stage/http.ts";
import type { Ask } from "./asking.ts";
import type { Sent } from "./exchange.ts";
import { aliceBody } from "./stage.ts";
import type { Scene } from "./stage.ts";

export interface Attack {
  readonly title: string;
  readonly expected: Expected;
  /** What is sent to reach the victim. An `Ask` gets alice's token, unless it has another or asks for none. */
  readonly sent: Ask | ((scene: Scene) => Ask | Sent | Promise<Ask | Sent>);
}

export interface Expected {
  /** Refused, or done as alice. In the second case it must reach only what is hers. */
  readonly kind: "refused" | "served";
  /** The answers' status codes, in order. */
  readonly statuses: readonly number[];
  /** What is recorded. */
  readonly records: readonly string[];
  /** A part of the last answer. */
  readonly says?: string | undefined;
}

/** One row of a table. */
export const row = (title: string, expected: Expected, sent: Attack["sent"]): Attack => ({ title, expected, sent });

type HttpReason = keyof typeof refusals.http;
type StorageReason = keyof typeof refusals.storage;

/** Any refusal that is recorded once. */
export const refusal = (status: number, record: string, says?: string): Expected => ({
  kind: "refused",
  statuses: [status],
  records: [record],
  says,
});

/** Refused by the HTTP checks, before anything is called, with the status of the reason. */
export function refused(reason: HttpReason | StorageReason, by: "alice" | "nobody" = "nobody"): Expected {
  const status = reason in refusals.http ? refusals.http[reason as HttpReason].status : 0;
  return refusal(status || refusals.storage[reason as StorageReason], `refused http ${reason} ${by}`);
}

/** Refused by the SDK, and recorded with its status. */
export const refusedBySdk = (status: number): Expected => refusal(status, `refused http mcp-${status} alice`);

/** Refused by the tool, with an error that a model reads. */
export const toolError = (code: string, tool = "ReadUserMemory"): Expected =>
  refusal(200, `call ${tool} alice ${code}`, code);

/** Any request that is served for alice. */
export const served = (status: number, records: readonly string[], says?: string): Expected => ({
  kind: "served",
  statuses: [status],
  records,
  says,
});

/** The call is made for alice. */
export const asAlice: Expected = served(200, ["call ReadUserMemory alice done"], aliceBody);

const rpcError = '"error":{"code":-32';

/** Parameters that do not fit the MCP schema. */
export const unfit: Expected = refusal(200, "refused mcp params-unfit alice", rpcError);

export const unknownMethod: Expected = refusal(200, "refused mcp method-unknown alice", rpcError);

/** A URI of neither of the two forms. */
export const unknownResource: Expected = refusal(200, "refused mcp resource-unknown alice", rpcError);

/** The URI of an entry that alice does not have, or that cannot exist. */
export const absentEntry = (code: string): Expected => refusal(200, `call ReadUserMemory alice ${code}`, rpcError);

/** No tool has this name. */
export const unknownTool = (tool: string): Expected => refusal(200, `call ${tool} alice TOOL_UNKNOWN`, "-32602");
