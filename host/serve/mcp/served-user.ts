import type { Runtime } from "../../runtime/api.ts";
import type { CallContext } from "../../values/call-context.ts";
import { mcpLimits } from "./mcp-limits.ts";
import { CLIENT_INFO_META_KEY } from "./sdk.ts";
import type { Implementation, Server, ServerContext } from "./sdk.ts";

/** Whose memory a server offers, and what is called for it. */
export interface ServedUser {
  readonly runtime: Runtime;
  readonly userId: string;
  /** Who calls, for one request: cancelled with it, and recorded with the client's own name. */
  readonly contextOf: (request: ServerContext) => CallContext;
}

export function serveUser(
  {
    runtime,
    userId,
    labels,
  }: Pick<ServedUser, "runtime" | "userId"> & { readonly labels: Readonly<Record<string, string>> },
  server: Server,
): ServedUser {
  const contextOf = ({ mcpReq, http }: ServerContext): CallContext => {
    // Since 2026-07-28 each request says who sends it; before, the handshake did.
    const client = clientLabel(envelopeClient(mcpReq) ?? server.getClientVersion());
    // Of the request's own token: another of the same user may be on its way in the same session.
    const token = http?.authInfo?.extra?.["tokenId"];
    const own = { ...labels, ...(typeof token === "string" && { token }), ...(client !== null && { client }) };
    return { userId, signal: mcpReq.signal, labels: own };
  };
  return { runtime, userId, contextOf };
}

function envelopeClient({ envelope }: ServerContext["mcpReq"]): Implementation | undefined {
  return (envelope as Partial<Record<string, Implementation>> | undefined)?.[CLIENT_INFO_META_KEY];
}

/** What a client calls itself, as a label may be: printable ASCII. `null` when it names nothing. */
export function clientLabel(
  client: { readonly name?: unknown; readonly version?: unknown } | undefined,
): string | null {
  const parts = [client?.name, client?.version].map((part) => (typeof part === "string" ? printable(part) : ""));
  return parts.join("") === "" ? null : parts.join("/").slice(0, mcpLimits.clientCharsMax);
}

function printable(text: string): string {
  return text.slice(0, mcpLimits.clientCharsMax).replace(/[^\x20-\x7e]/g, "?");
}
