/** What a model was exposed to, by the messages that it was sent. */
import { trustsIn } from "../origin-lines.ts";
import { originClasses } from "../origin.ts";
import type { OriginClass } from "../origin.ts";

interface Part {
  readonly type?: unknown;
  readonly toolName?: unknown;
  readonly output?: unknown;
}

/**
 * The classes of all texts in the messages, each once. `ownTools`: memcell's, and those whose results are the program's
 * own. The texts of memory in memcell's results count as far as they are trusted. What is not known counts as
 * `tool_external`, and so do messages that are missing.
 */
export function exposureTo(messages: unknown, ownTools: ReadonlySet<string>): OriginClass[] {
  const found = new Set<OriginClass>(Array.isArray(messages) ? [] : ["tool_external"]);
  for (const message of Array.isArray(messages) ? (messages as unknown[]) : [])
    for (const each of ofMessage(message, ownTools)) found.add(each);
  return originClasses.filter((each) => found.has(each));
}

function ofMessage(message: unknown, ownTools: ReadonlySet<string>): OriginClass[] {
  const { role, content } = (message ?? {}) as { readonly role?: unknown; readonly content?: unknown };
  if (role === "system") return [];
  if (typeof content === "string" && role === "assistant") return [];
  if (typeof content === "string" && role === "user") return ["direct_user"];
  if (!Array.isArray(content)) return ["tool_external"];
  const parts = (content as unknown[]).map((part) => (part ?? {}) as Part);
  if (role === "user") return parts.map(ofUser);
  // In the model's own message, a result is that of a provider's tool, which can have any name.
  return parts.flatMap((part) => ofAgent(part, role === "tool" ? ownTools : none));
}

const none: ReadonlySet<string> = new Set();

/** A file or an image can have anybody's words in it. */
const ofUser = (part: Part): OriginClass => (part.type === "text" ? "direct_user" : "untrusted_document");

/** Of the model, or of a tool. The results of a provider's own tools, such as a web search, are beside the model's words. */
function ofAgent(part: Part, ownTools: ReadonlySet<string>): OriginClass[] {
  if (part.type === "tool-result") return ofResult(part, ownTools);
  return ofModel.has(part.type) ? [] : ["tool_external"];
}

const ofModel: ReadonlySet<unknown> = new Set([
  "text",
  "reasoning",
  "file",
  "reasoning-file",
  "tool-call",
  "tool-approval-request",
  "tool-approval-response",
]);

function ofResult({ toolName, output }: Part, ownTools: ReadonlySet<string>): OriginClass[] {
  if (typeof toolName !== "string" || !ownTools.has(toolName)) return ["tool_external"];
  return ["tool_internal", ...trustsIn(JSON.stringify(output ?? null))];
}
