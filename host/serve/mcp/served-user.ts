import type { Runtime } from "../../runtime/api.ts";
import type { CallContext } from "../../values/call-context.ts";
import type { ToldOrigin } from "../../values/origin.ts";
import { originOfRequest } from "./client-origin.ts";
import type { KnownClient } from "./client-origin.ts";
import { mcpLimits } from "./mcp-limits.ts";
import { CLIENT_INFO_META_KEY } from "./sdk.ts";
import type { Implementation, Server, ServerContext } from "./sdk.ts";

/** The user whose memory a server offers, and the runtime to call. */
export interface ServedUser {
  /** The runtime for one request: one that may not change anything gets the read-only view. */
  readonly runtimeFor: (request: ServerContext) => Runtime;
  readonly userId: string;
  /** Records a request that was refused before any call. */
  readonly refused: (reason: string) => void;
  /**
   * The call context of one request, with its cancellation signal, the client's own name as a label, and the origin.
   * Throws `INPUT_INVALID`, on record, if the client states an origin that is none.
   */
  readonly contextOf: (request: ServerContext) => CallContext;
}

export interface ServedUserParts {
  readonly runtime: Runtime;
  /** The user whose memory it is. It comes from the check that admitted the client; no message can change it. */
  readonly userId: string;
  /** Labels of each call for the audit log. The server adds `client`, the client's own name. */
  readonly labels: Readonly<Record<string, string>>;
  /** The client of a request, by what has admitted this request. */
  readonly clientOf: (request: ServerContext) => KnownClient;
  /** Whether a request may change anything, by what has admitted this request. Default: each may. */
  readonly mayWrite?: (request: ServerContext) => boolean;
}

export function serveUser(
  { runtime, userId, labels, clientOf, mayWrite = () => true }: ServedUserParts,
  server: Server,
): ServedUser {
  const refused = (reason: string): void => runtime.refused({ surface: "mcp", reason, userId });
  const originOf = (request: ServerContext): ToldOrigin => {
    try {
      return originOfRequest(clientOf(request), request.mcpReq._meta);
    } catch (error) {
      refused("origin-unfit");
      throw error;
    }
  };
  const contextOf = (request: ServerContext): CallContext => {
    const { mcpReq, http } = request;
    // Since 2026-07-28 each request names the client; before, the handshake did.
    const client = clientLabel(envelopeClient(mcpReq) ?? server.getClientVersion());
    // From this request's own token: requests of one session can have different tokens of the same user.
    const token = http?.authInfo?.extra?.["tokenId"];
    const own = { ...labels, ...(typeof token === "string" && { token }), ...(client !== null && { client }) };
    return { userId, signal: mcpReq.signal, labels: own, ...originOf(request) };
  };
  const runtimeFor = (request: ServerContext): Runtime => (mayWrite(request) ? runtime : runtime.asReadOnly());
  return { runtimeFor, userId, refused, contextOf };
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
