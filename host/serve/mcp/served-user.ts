import type { Runtime } from "../../runtime/api.ts";
import type { CallContext, ContextStore } from "../../values/call-context.ts";
import type { ToldOrigin } from "../../values/origin.ts";
import { originOfRequest } from "./client-origin.ts";
import type { KnownClient } from "./client-origin.ts";
import { mcpLimits } from "./mcp-limits.ts";
import type { OwnersPage } from "./owners-page.ts";
import { CLIENT_INFO_META_KEY } from "./sdk.ts";
import type { Implementation, Server, ServerContext } from "./sdk.ts";

/** The user whose memory a server offers, and the runtime to call. */
export interface ServedUser {
  readonly runtime: Runtime;
  readonly userId: string;
  readonly page: OwnersPage | null;
  /** Records a request that was refused before any call. */
  readonly refused: (reason: string) => void;
  /**
   * The call context of one request, with its cancellation signal, the client's own name as a label, and the origin.
   * Throws `INPUT_INVALID`, on record, if the client states an origin that is none.
   */
  readonly contextOf: (request: ServerContext) => CallContext;
}

export interface ServedUserParts {
  /** For a client that may not change anything, the read-only view. */
  readonly runtime: Runtime;
  /** The user whose memory it is. It comes from the check that admitted the client; no message can change it. */
  readonly userId: string;
  /** Labels of each call for the audit log. The server adds `client`, the client's own name. */
  readonly labels: Readonly<Record<string, string>>;
  /** The client, by what has admitted it. */
  readonly client: KnownClient;
  /** As in the context of a call. Default: none. */
  readonly stores?: readonly ContextStore[];
  /** Where the user sees and decides. Default: nothing is said of it. */
  readonly page?: OwnersPage | null;
}

export function serveUser(
  { runtime, userId, labels, client, stores = [], page = null }: ServedUserParts,
  server: Server,
): ServedUser {
  const refused = (reason: string): void => runtime.refused({ surface: "mcp", reason, userId });
  const originOf = (request: ServerContext): ToldOrigin => {
    try {
      return originOfRequest(client, request.mcpReq._meta);
    } catch (error) {
      refused("origin-unfit");
      throw error;
    }
  };
  const contextOf = (request: ServerContext): CallContext => {
    const { mcpReq } = request;
    // Since 2026-07-28 each request names the client; before, the handshake of a connection did.
    const name = clientLabel(envelopeClient(mcpReq) ?? server.getClientVersion());
    const own = name === null ? labels : { ...labels, client: name };
    return { userId, signal: mcpReq.signal, labels: own, stores, ...originOf(request) };
  };
  return { runtime, userId, page, refused, contextOf };
}

function envelopeClient({ envelope }: ServerContext["mcpReq"]): Implementation | undefined {
  return (envelope as Partial<Record<string, Implementation>> | undefined)?.[CLIENT_INFO_META_KEY];
}

/** The client's own name and version as a label, in printable ASCII. `null` when it gives neither. */
export function clientLabel(
  client: { readonly name?: unknown; readonly version?: unknown } | undefined,
): string | null {
  const parts = [client?.name, client?.version].map((part) => (typeof part === "string" ? printable(part) : ""));
  return parts.join("") === "" ? null : parts.join("/").slice(0, mcpLimits.clientCharsMax);
}

function printable(text: string): string {
  return text.slice(0, mcpLimits.clientCharsMax).replace(/[^\x20-\x7e]/g, "?");
}
