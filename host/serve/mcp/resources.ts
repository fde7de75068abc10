/**
 * A user's indexes and entries as resources, and the completion of their names. Reads no files: each resource is read by
 * a tool call.
 */
import { withoutHidden, firstHidden } from "../../../shared/hidden-text.ts";
import { indexOriginLines, originLines } from "../../../shared/origin-lines.ts";
import { seenIn } from "../../../shared/seen-in.ts";
import { quoted } from "../../../shared/text.ts";
import type { MemoryEntry, MemoryFamily } from "../../runtime/memory-families.ts";
import { ToolError } from "../../values/tool-error.ts";
import { failureOf } from "../../values/tool-result.ts";
import { mcpLimits } from "./mcp-limits.ts";
import { entryUri, entryUriTemplate, indexUri, indexUriOf, parseMemoryUri } from "./memory-uri.ts";
import type { MemoryUri } from "./memory-uri.ts";
import { promptName } from "./prompts.ts";
import { orProtocolFailure, protocolFailure, invalidParams } from "./protocol-failure.ts";
import { ResourceNotFoundError } from "./sdk.ts";
import type {
  ListResourcesResult,
  ReadResourceResult,
  Resource,
  Server,
  ServerContext,
  CompleteRequest,
  CompleteResult,
} from "./sdk.ts";
import type { ServedUser } from "./served-user.ts";

const mimeType = "text/markdown";

const indexOfAll: Resource = {
  uri: indexUri,
  name: "index",
  title: "Index of the user's memory",
  description: "What is remembered, in short: all that has an index. Empty when nothing is remembered yet.",
  mimeType,
};

const indexOf = ({ name }: MemoryFamily): Resource => ({
  uri: indexUriOf(name),
  name: `${name} index`,
  title: `Index of ${name}`,
  description: `What ${name} keeps of the user, in short. Empty when it keeps nothing yet.`,
  mimeType,
});

const entryTemplateOf = ({ name }: MemoryFamily) => ({
  uriTemplate: entryUriTemplate(name),
  name: `${name} entry`,
  title: `An entry of ${name}`,
  description: "The full text of one entry. The list of resources has the names.",
  mimeType,
});

/** Registers the resources on `server`. */
export function offerResources(server: Server, user: ServedUser): void {
  server.setRequestHandler("resources/templates/list", () => {
    const readable = user.runtime.families().filter(({ canRead }) => canRead);
    return { resourceTemplates: readable.map(entryTemplateOf) };
  });
  server.setRequestHandler("resources/list", ({ params }, request) =>
    orProtocolFailure(() => list(user, offsetOf(params?.cursor), request)),
  );
  server.setRequestHandler("resources/read", ({ params: { uri } }, request) =>
    orProtocolFailure(() => read(user, uri, request)),
  );
}

/** Parses the URI of an offered resource. Records and refuses any other URI. */
export function known({ runtime, refused }: ServedUser, uri: string): MemoryUri {
  const parsed = parseMemoryUri(uri);
  if (parsed === null || !isOffered(parsed, runtime.families())) {
    refused("resource-unknown");
    throw notFound(uri);
  }
  return parsed;
}

function isOffered(parsed: MemoryUri, families: readonly MemoryFamily[]): boolean {
  return families.some(({ name, hasIndex, canRead }) => {
    if (parsed.family !== null && parsed.family !== name) return false;
    return parsed.kind === "index" ? hasIndex : canRead;
  });
}

/**
 * Lists indexes first. They are listed even for a user without entries. Entries that cannot be read are left out, and so are
 * those that no prompt may have: a client can put the list into one.
 */
async function list(
  { runtime, contextOf }: ServedUser,
  offset: number,
  request: ServerContext,
): Promise<ListResourcesResult> {
  const families = runtime.families();
  const indexed = families.filter(({ hasIndex }) => hasIndex);
  const readable = new Set(families.filter(({ hasEntries, canRead }) => hasEntries && canRead).map(({ name }) => name));
  const entries = readable.size > 0 ? await runtime.memoryEntries(contextOf(request), { forPrompt: true }) : [];
  const listed = entries.filter(({ family }) => readable.has(family)).flatMap(entryResource);
  const all = [...(indexed.length > 0 ? [indexOfAll] : []), ...indexed.map(indexOf), ...listed];
  const resources = all.slice(offset, offset + mcpLimits.resourcesPerPage);
  return { resources, ...nextCursor(offset + resources.length, all.length) };
}

/** No resource for an entry whose name does not fit into a URI. The last line of a description can be the host's. */
function entryResource({ family, name, description: said, origins = [] }: MemoryEntry): Resource[] {
  const uri = entryUri(family, name);
  if (parseMemoryUri(uri) === null) return [];
  const [title, text] = [withoutHidden(name), withoutHidden(said.replace(lineEnds, " "))];
  if (origins.length === 0) return [{ uri, name: title, description: text, mimeType }];
  const description = `${text}\n${indexOriginLines(origins, labelBounds).trimEnd()}`;
  return [{ uri, name: title, description, mimeType, _meta: { "memcell/origins": origins } }];
}

const lineEnds = /[\n\r\v\f\u0085\u2028\u2029]+/g;

/** One line, with the names of a few files if the plugin does not say which has the entry. */
const labelBounds = { linesMax: 1, bytesMax: 256 };

async function read(user: ServedUser, uri: string, request: ServerContext): Promise<ReadResourceResult> {
  const parsed = known(user, uri);
  if (parsed.kind === "entry") return await readEntry(user, uri, parsed, request);
  const options = parsed.family === null ? {} : { family: parsed.family };
  const text = await user.runtime.memoryIndex(user.contextOf(request), options);
  return { contents: [{ uri, mimeType, text }] };
}

/** The text is only the entry's body; `_meta` has its other fields. Where it comes from is a content of its own. */
async function readEntry(
  { runtime, contextOf }: ServedUser,
  uri: string,
  { family, name }: Extract<MemoryUri, { kind: "entry" }>,
  request: ServerContext,
): Promise<ReadResourceResult> {
  const ctx = contextOf(request);
  try {
    const { body, ...rest } = seenIn(await runtime.readEntry({ family, name }, ctx));
    const contents = [{ uri, mimeType, text: body, _meta: { "memcell/entry": rest } }];
    const lines = originLines(rest.origins);
    return { contents: lines === "" ? contents : [...contents, { uri, mimeType: "text/plain", text: lines }] };
  } catch (error) {
    if (!(error instanceof ToolError)) throw error;
    throw absentCodes.has(error.tableCode) ? notFound(uri) : protocolFailure(failureOf(error));
  }
}

/** Codes that mean "no such entry". Only the name comes from the client, so only the name can be invalid. */
const absentCodes: ReadonlySet<string> = new Set(["ENTRY_NOT_FOUND", "INPUT_INVALID", "NAME_RESERVED"]);

/** Returns the client's own text, shortened: it need not be a URI. */
function notFound(uri: string): ResourceNotFoundError {
  return new ResourceNotFoundError(uri.slice(0, mcpLimits.uriCharsMax));
}

/** The cursor of the next page, if there is one. It contains only a position, so it is valid for any user. */
function nextCursor(offset: number, count: number): { nextCursor?: string } {
  return offset < count ? { nextCursor: Buffer.from(`from ${offset}`).toString("base64url") } : {};
}

/** Throws -32602 for a cursor that `nextCursor` did not create. */
function offsetOf(cursor: string | undefined): number {
  if (cursor === undefined) return 0;
  const offset = /^[\w-]{1,24}$/.test(cursor)
    ? /^from ([1-9]\d{0,5})$/.exec(Buffer.from(cursor, "base64url").toString("latin1"))?.[1]
    : undefined;
  if (offset !== undefined) return Number(offset);
  throw invalidParams(
    "Cannot list resources: the cursor is not from this server, allowed: nextCursor of the page before",
  );
}

/** Registers completion of the names of listed entries on `server`. */
export function offerCompletion(server: Server, user: ServedUser): void {
  server.setRequestHandler("completion/complete", ({ params }, request) =>
    orProtocolFailure(() => complete(user, params, request)),
  );
}

async function complete(
  { runtime, contextOf }: ServedUser,
  { ref, argument }: CompleteRequest["params"],
  request: ServerContext,
): Promise<CompleteResult> {
  if (ref.type === "ref/prompt" && ref.name === promptName) return { completion: { values: [], total: 0 } };
  const families = runtime.families().filter(({ canRead, hasEntries }) => canRead && hasEntries);
  const family = families.find(({ name }) => ref.type === "ref/resource" && ref.uri === entryUriTemplate(name))?.name;
  if (family === undefined || argument.name !== "name") {
    const allowed = families.map(({ name }) => `"${entryUriTemplate(name)}"`).join(" or ") || "nothing";
    const present = quoted(ref.type === "ref/prompt" ? ref.name : ref.uri);
    throw invalidParams(`Cannot complete an argument of ${present}: allowed is "name" of ${allowed}`);
  }
  const entries = await runtime.memoryEntries(contextOf(request), { family, forPrompt: true });
  const names = entries
    .map(({ name }) => name)
    .filter((name) => name.startsWith(argument.value) && firstHidden(name) === null);
  const values = names.slice(0, mcpLimits.completionsMax);
  return { completion: { values, total: names.length, hasMore: values.length < names.length } };
}
