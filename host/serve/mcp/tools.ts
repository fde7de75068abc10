/** The tools of a user's runtime in MCP. */
import { originLines } from "../../../shared/origin-lines.ts";
import { seenIn } from "../../../shared/seen-in.ts";
import { plainSchema } from "../../plugins/formats/plain-schema.ts";
import type { ToolDescription } from "../../plugins/tool-description.ts";
import { mayChange } from "../../plugins/tools.ts";
import type { Runtime } from "../../runtime/api.ts";
import { ToolError } from "../../values/tool-error.ts";
import { failedResult } from "../../values/tool-result.ts";
import type { ToolFailure, ToolResult } from "../../values/tool-result.ts";
import { askedAbout, questionAbout, whatBecame, whereToDecide } from "./owners-page.ts";
import { invalidParams, orProtocolFailure } from "./protocol-failure.ts";
import { isInputRequiredResult } from "./sdk.ts";
import type { CallToolResult, InputRequiredResult, Server, ServerContext, Tool, ToolAnnotations } from "./sdk.ts";
import type { ServedUser } from "./served-user.ts";

/** Registers the tools on `server`. The list has one page: there are few plugins, and their manifests are bounded. */
export function offerTools(server: Server, user: ServedUser): void {
  const { tools, listed } = offered(user.runtime);
  server.setRequestHandler("tools/list", () => ({ tools: listed }));
  server.setRequestHandler("tools/call", ({ params: { name, arguments: input = {} } }, request) =>
    orProtocolFailure(async () => {
      const id = askedAbout(request);
      if (id !== null) return await whatBecame(user.runtime, user.contextOf(request), id);
      const result = await call(user, { name, input }, request);
      if (isInputRequiredResult(result)) return result;
      // The 2025 revisions need data that is not an object to be wrapped.
      const tool = tools.find((each) => each.name === name);
      return server.projectCallToolResult(result, tool?.outputSchema);
    }),
  );
}

/** By the runtime, whose tools do not change: making their lists takes longer than answering a request. */
const offers = new WeakMap<Runtime, Offer>();

interface Offer {
  readonly tools: readonly ToolDescription[];
  readonly listed: Tool[];
}

function offered(runtime: Runtime): Offer {
  const known = offers.get(runtime);
  if (known) return known;
  const tools = runtime.tools();
  const offer = { tools, listed: tools.map(describe) };
  offers.set(runtime, offer);
  return offer;
}

function describe({ name, description, inputSchema, outputSchema, rights }: ToolDescription): Tool {
  // Clients check answers by the output's schema, so only its dialect goes.
  const { $schema: _, ...output } = outputSchema;
  const annotations = annotationsFor(rights);
  return { name, description, inputSchema: plainSchema(inputSchema), outputSchema: output, annotations };
}

/**
 * Annotations from the tool's grant, not from the plugin's own claims. A read-only tool can be called again. A tool
 * that changes files is not idempotent: a repeated upsert updates the entry's time, a repeated deletion finds no entry.
 */
function annotationsFor(rights: ToolDescription["rights"]): ToolAnnotations {
  const isReadOnly = !mayChange(rights);
  return {
    readOnlyHint: isReadOnly,
    destructiveHint: !isReadOnly,
    idempotentHint: isReadOnly,
    openWorldHint: false,
  };
}

/** Calls the runtime even for an unknown tool, so that the call is recorded. */
async function call(
  { runtime, contextOf, page }: ServedUser,
  { name, input }: { readonly name: string; readonly input: unknown },
  request: ServerContext,
): Promise<CallToolResult | InputRequiredResult> {
  try {
    const result = await runtime.call(name, input, contextOf(request));
    if (result.ok) return told(result);
    if (result.pending !== undefined) {
      const { id } = result.pending;
      const message = `${result.error.message}${whereToDecide(page, id)}`;
      return questionAbout(page, id, request) ?? toldAsFailed({ ...result.error, message });
    }
    if (result.error.code !== "TOOL_UNKNOWN") return toldAsFailed(result.error);
    throw invalidParams(result.error.message, { code: "TOOL_UNKNOWN" });
  } catch (error) {
    // An unfit statement about the origin is a failure of the call.
    if (error instanceof ToolError) return toldAsFailed(failedResult(error).error);
    throw error;
  }
}

/** Where entries come from is behind what the plugin has answered. */
function told({ origins, ...answer }: Extract<ToolResult, { ok: true }>): CallToolResult {
  const { message, data } = seenIn(answer);
  const content = [text(message), text(JSON.stringify(data))];
  if (origins === undefined) return { content, structuredContent: data };
  content.push(text(originLines(origins)));
  return { content, structuredContent: data, _meta: { "memcell/origins": origins } };
}

/** First the message for the model, then the fields for programs. `structuredContent` would not match the schema. */
function toldAsFailed({ blame, ...answer }: ToolFailure): CallToolResult {
  const failure = seenIn(answer);
  return {
    isError: true,
    content: [text(failure.message), text(JSON.stringify(failure))],
    _meta: { "memcell/error": { ...failure, blame } },
  };
}

const text = (value: string) => ({ type: "text" as const, text: value });
