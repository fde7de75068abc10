/** How clients and their users learn where a person sees what is remembered, and decides about what waits. */
import type { Runtime } from "../../runtime/api.ts";
import type { CallContext } from "../../values/call-context.ts";
import { ToolError } from "../../values/tool-error.ts";
import { CLIENT_CAPABILITIES_META_KEY, inputRequired } from "./sdk.ts";
import type { CallToolResult, ClientCapabilities, InputRequiredResult, ServerContext } from "./sdk.ts";

/** Where the person whose memory it is does so: at the address of a page, or with a command. */
export type OwnersPage = { readonly url: string } | { readonly command: string };

const at = (page: OwnersPage, ...names: readonly string[]): string =>
  "url" in page ? `at ${[page.url, ...names.map(encodeURIComponent)].join("/")}` : `with the command ${page.command}`;

export const whereToSee = (page: OwnersPage | null): string =>
  page === null ? "" : `The user can see, correct and remove what is remembered ${at(page)}.`;

/** What is said behind the failure of a write that waits: an agent can tell its user. */
export const whereToDecide = (page: OwnersPage | null, id: string): string =>
  page === null ? "" : `. The user can approve or reject it ${at(page, "waiting", id)}`;

const asked = "decision";

/**
 * The question to open the page, for a client that can ask its user (elicitation, mode `url`); `null` for another. The client only
 * opens the page: what a client answers decides nothing.
 */
export function questionAbout(
  page: OwnersPage | null,
  id: string,
  { mcpReq: { envelope } }: ServerContext,
): InputRequiredResult | null {
  const told = envelope as Partial<Record<string, ClientCapabilities>> | undefined;
  const capabilities = told?.[CLIENT_CAPABILITIES_META_KEY];
  if (page === null || !("url" in page) || capabilities?.elicitation?.url === undefined) return null;
  const message = "An agent wants to remember something that comes from outside. Look at it, and approve or reject it.";
  const url = `${page.url}/waiting/${encodeURIComponent(id)}`;
  return inputRequired({ inputRequests: { [asked]: inputRequired.elicitUrl({ message, url }) }, requestState: id });
}

/** The suggestion about which a client comes back; `null` if it does not. Whatever it says, it learns only of its own user's. */
export function askedAbout({ mcpReq }: ServerContext): string | null {
  const id = mcpReq.requestState();
  return typeof id === "string" && mcpReq.inputResponses !== undefined && asked in mcpReq.inputResponses ? id : null;
}

/** What has become of a suggestion: the call was made before, and is not made again. */
export async function whatBecame(runtime: Runtime, ctx: CallContext, id: string): Promise<CallToolResult> {
  try {
    await runtime.upkeep.showPending(ctx, id);
    return {
      content: [{ type: "text", text: "The user has not decided yet: it is still a suggestion. Do not retry" }],
    };
  } catch (error) {
    if (!(error instanceof ToolError)) throw error;
    return { content: [{ type: "text", text: error.message }] };
  }
}
