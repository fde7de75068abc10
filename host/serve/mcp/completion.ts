import { firstHidden } from "../../../shared/hidden-text.ts";
import { quoted } from "../../../shared/text.ts";
import { mcpLimits } from "./mcp-limits.ts";
import { entryUriTemplate } from "./memory-uri.ts";
import { promptName } from "./prompts.ts";
import { invalidParams, orProtocolFailure } from "./protocol-failure.ts";
import type { CompleteRequest, CompleteResult, Server, ServerContext } from "./sdk.ts";
import type { ServedUser } from "./served-user.ts";

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
