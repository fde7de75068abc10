/** Converts an MCP answer back into a vector's result. */
import { isDeepStrictEqual } from "node:util";

import { ProtocolError } from "@modelcontextprotocol/client";
import type { CallToolResult, Client } from "@modelcontextprotocol/client";

/** A reported failure: the same as text for a model and here for programs. */
interface ToldFailure {
  readonly code: string;
  readonly of?: string;
  readonly message: string;
  readonly issues?: unknown;
  readonly retryable: boolean;
  readonly blame: string;
}

/** Returns the call's result envelope. Throws if the answer contradicts itself. */
export async function callOverMcp(client: Client, tool: string, input: unknown): Promise<unknown> {
  try {
    const result = await client.callTool({ name: tool, arguments: input as Record<string, unknown> });
    return envelopeOf(result, client.getProtocolEra() === "modern");
  } catch (error) {
    const { code } = ((error as ProtocolError).data ?? {}) as { code?: unknown };
    if (!(error instanceof ProtocolError) || code !== "TOOL_UNKNOWN") throw error;
    return { ok: false, error: { code, message: error.message } };
  }
}

function envelopeOf({ content, structuredContent, isError, _meta }: CallToolResult, isModern: boolean): unknown {
  const [message, json, ...more] = content.map((each) => (each.type === "text" ? each.text : each.type));
  if (message === undefined || json === undefined || more.length > 0) {
    throw new Error(`An answer has ${content.length} parts, expected: a sentence, and its data as JSON`);
  }
  if (!isError) {
    const data = JSON.parse(json) as unknown;
    // The 2025 protocol accepts objects only, so other data is wrapped unless the tool's schema promises an object.
    const isPlain = isModern || isDeepStrictEqual(structuredContent, data);
    same(structuredContent, isPlain ? data : { result: data });
    return { ok: true, message, data };
  }
  const { blame: _blame, ...failure } = (_meta as { "memcell/error": ToldFailure })["memcell/error"];
  same(JSON.parse(json), failure);
  same(message, failure.message);
  same(structuredContent, undefined);
  const { of: _of, retryable: _retryable, ...error } = failure;
  return { ok: false, error };
}

function same(one: unknown, other: unknown): void {
  if (!isDeepStrictEqual(one, other)) {
    throw new Error(`An answer tells two things: ${JSON.stringify(one)} and ${JSON.stringify(other)}`);
  }
}
