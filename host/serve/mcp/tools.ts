/** The tools of a user's runtime, as MCP describes and calls them. */
import type { ToolDescription } from "../../plugins/describe-tool.ts";
import type { ToolFailure, ToolResult } from "../../values/tool-result.ts";
import { listedSchema } from "./listed-schema.ts";
import { orProtocolFailure } from "./protocol-failure.ts";
import { ProtocolError, ProtocolErrorCode } from "./sdk.ts";
import type { CallToolResult, Server, ServerContext, Tool, ToolAnnotations } from "./sdk.ts";
import type { ServedUser } from "./served-user.ts";

/** Bound to `server`. The list has one page: plugins are few, and their manifests bounded. */
export function offerTools(server: Server, user: ServedUser): void {
  const tools = user.runtime.tools();
  const outputs = new Map(tools.map(({ name, outputSchema }) => [name, outputSchema]));
  server.setRequestHandler("tools/list", () => ({ tools: tools.map(describe) }));
  server.setRequestHandler("tools/call", ({ params: { name, arguments: input = {} } }, request) =>
    orProtocolFailure(async () => {
      const result = await call(user, { name, input }, request);
      // Where data is no object, the 2025 revisions need it wrapped.
      return server.projectCallToolResult(result, outputs.get(name));
    }),
  );
}

function describe({ name, description, inputSchema, outputSchema, rights }: ToolDescription): Tool {
  return {
    name,
    description,
    inputSchema: listedSchema(inputSchema),
    outputSchema,
    annotations: annotationsFor(rights),
  };
}

/**
 * From what is granted, not from what a plugin says of itself. A tool that changes nothing may be called again; of one
 * that does nothing is known: an upsert that is repeated sets the time of its entry anew, a deletion finds nothing more.
 */
function annotationsFor(rights: ToolDescription["rights"]): ToolAnnotations {
  const isReadOnly = !rights.includes("write") && !rights.includes("trash");
  return {
    readOnlyHint: isReadOnly,
    destructiveHint: !isReadOnly,
    idempotentHint: isReadOnly,
    openWorldHint: false,
  };
}

/** A tool that is not there is called nevertheless, so that it is on record. */
async function call(
  { runtime, contextOf }: ServedUser,
  { name, input }: { readonly name: string; readonly input: unknown },
  request: ServerContext,
): Promise<CallToolResult> {
  const result = await runtime.call(name, input, contextOf(request));
  if (!result.ok && result.error.code === "TOOL_UNKNOWN") {
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, result.error.message, { code: "TOOL_UNKNOWN" });
  }
  return result.ok ? told(result) : toldAsFailed(result.error);
}

function told({ message, data }: Extract<ToolResult, { ok: true }>): CallToolResult {
  return { content: [text(message), text(JSON.stringify(data))], structuredContent: data };
}

/** The sentence first, for the model; then what a program goes by. No `structuredContent`: it would not fit the schema. */
function toldAsFailed({ blame, ...failure }: ToolFailure): CallToolResult {
  return {
    isError: true,
    content: [text(failure.message), text(JSON.stringify(failure))],
    _meta: { "memcell/error": { ...failure, blame } },
  };
}

const text = (value: string) => ({ type: "text" as const, text: value });
