import { isUtf8 } from "node:buffer";

import { ProtocolErrorCode, parseJSONRPCMessage } from "../mcp/sdk.ts";
import type { JSONRPCMessage } from "../mcp/sdk.ts";

/** What a line holds: a message, or something else, which is answered when it asks for something by an id. */
export interface ReadLine {
  readonly message?: JSONRPCMessage;
  readonly refusal?: JSONRPCMessage;
}

export function readLine(line: Buffer): ReadLine {
  // Other bytes would be replaced one by one, and stored so.
  if (line.length === 0 || !isUtf8(line)) return {};
  let value: unknown;
  try {
    value = JSON.parse(line.toString("utf8"));
  } catch {
    return {};
  }
  try {
    return { message: parseJSONRPCMessage(value) };
  } catch {
    return refuse(value);
  }
}

function refuse(value: unknown): ReadLine {
  if (typeof value !== "object" || value === null || !("method" in value) || !("id" in value)) return {};
  const { id } = value;
  if (typeof id !== "string" && !Number.isSafeInteger(id)) return {};
  const error = {
    code: ProtocolErrorCode.InvalidRequest,
    message: "Cannot read the request: it is not of JSON-RPC 2.0",
  };
  return { refusal: { jsonrpc: "2.0", id: id as string | number, error } };
}
