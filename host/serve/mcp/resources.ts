import { readOutput } from "../../../shared/user-memory/read.ts";
import { safeParse } from "../../../shared/zod.ts";
import { ToolError } from "../../values/tool-error.ts";
import type { ToolFailure } from "../../values/tool-result.ts";
/** A user's index and entries as resources. Nothing here reads a file: each entry is a call of the tool that reads it. */
import { mcpLimits } from "./mcp-limits.ts";
import { entryUri, entryUriTemplate, indexUri, parseMemoryUri } from "./memory-uri.ts";
import type { MemoryUri } from "./memory-uri.ts";
import { nextCursor, offsetOf } from "./page-cursor.ts";
import { orProtocolFailure, protocolFailure } from "./protocol-failure.ts";
import { ResourceNotFoundError } from "./sdk.ts";
import type { ListResourcesResult, ReadResourceResult, Resource, Server, ServerContext } from "./sdk.ts";
import type { ServedUser } from "./served-user.ts";

const mimeType = "text/markdown";

const index: Resource = {
  uri: indexUri,
  name: "index",
  title: "Index of the user's memory",
  description: "One line for each entry: its name and what it says. Empty when nothing is remembered yet.",
  mimeType,
};

const entryTemplate = {
  uriTemplate: entryUriTemplate,
  name: "entry",
  title: "An entry of the user's memory",
  description: "The full text of one entry. The index has the names.",
  mimeType,
};

/** Bound to `server`. */
export function offerResources(server: Server, user: ServedUser): void {
  server.setRequestHandler("resources/templates/list", () => ({ resourceTemplates: [entryTemplate] }));
  server.setRequestHandler("resources/list", ({ params }, request) =>
    orProtocolFailure(() => list(user, offsetOf(params?.cursor), request)),
  );
  server.setRequestHandler("resources/read", ({ params: { uri } }, request) =>
    orProtocolFailure(() => read(user, uri, request)),
  );
}

/** What a URI names, or the refusal of one that names nothing, on record. */
export function known({ runtime, userId }: ServedUser, uri: string): MemoryUri {
  const parsed = parseMemoryUri(uri);
  if (parsed) return parsed;
  runtime.refused({ surface: "mcp", reason: "resource-unknown", userId });
  throw notFound(uri);
}

/** The index comes first, and is there for a user without entries too. */
async function list(
  { runtime, contextOf }: ServedUser,
  offset: number,
  request: ServerContext,
): Promise<ListResourcesResult> {
  const entries = await runtime.memoryEntries(contextOf(request));
  const all = [index, ...entries.map(({ name, description }) => entryResource(name, description))];
  const resources = all.slice(offset, offset + mcpLimits.resourcesPerPage);
  return { resources, ...nextCursor(offset + resources.length, all.length) };
}

function entryResource(name: string, description: string): Resource {
  return { uri: entryUri(name), name, description, mimeType };
}

async function read(user: ServedUser, uri: string, request: ServerContext): Promise<ReadResourceResult> {
  const parsed = known(user, uri);
  if (parsed.kind === "entry") return await readEntry(user, { uri, name: parsed.name }, request);
  const text = await user.runtime.memoryIndex(user.contextOf(request));
  return { contents: [{ uri, mimeType, text }] };
}

/** The text is the body and nothing else; what else is known of the entry stands beside it. */
async function readEntry(
  { runtime, contextOf }: ServedUser,
  { uri, name }: { readonly uri: string; readonly name: string },
  request: ServerContext,
): Promise<ReadResourceResult> {
  const result = await runtime.call("ReadUserMemory", { name }, contextOf(request));
  if (!result.ok) throw isAbsent(result.error) ? notFound(uri) : protocolFailure(result.error);
  const parsed = safeParse(readOutput, result.data);
  if (!parsed.success) throw new ToolError("OUTPUT_INVALID", "Cannot use the answer of ReadUserMemory: it is no entry");
  const { body, ...rest } = parsed.data;
  return { contents: [{ uri, mimeType, text: body, _meta: { "memcell/entry": rest } }] };
}

/** Of a name that no entry can have there is none: the input is this server's own but for the name. */
function isAbsent(failure: ToolFailure): boolean {
  const code = failure.of ?? failure.code;
  return code === "ENTRY_NOT_FOUND" || code === "INPUT_INVALID" || code === "NAME_RESERVED";
}

/** A client gets its own URI back, cut: it need not be one. */
function notFound(uri: string): ResourceNotFoundError {
  return new ResourceNotFoundError(uri.slice(0, mcpLimits.uriCharsMax));
}
