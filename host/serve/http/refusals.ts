/** Every reason to refuse a request, and the answer to the client. `README.md` has the same table. */

export interface RefusalAnswer {
  readonly status: number;
  /** The JSON-RPC error code, which MCP clients expect in a body. */
  readonly code: number;
  readonly message: string;
}

const notFound: RefusalAnswer = { status: 404, code: -32_000, message: "Not found" };
const badToken: RefusalAnswer = { status: 401, code: -32_000, message: "invalid_token" };
const badRequest = (message: string): RefusalAnswer => ({ status: 400, code: -32_600, message });
const tooMuch = (message: string): RefusalAnswer => ({ status: 429, code: -32_000, message });

/** In the order of the checks. */
export const refusals = {
  "http-malformed": badRequest("The request is not valid HTTP"),
  "path-unknown": notFound,
  "query-present": notFound,
  "method-unknown": { status: 405, code: -32_000, message: "Method not allowed" },
  closing: { status: 503, code: -32_000, message: "The server is closing" },
  "header-repeated": badRequest("A header that may occur only once occurs more than once"),
  "host-unknown": { status: 403, code: -32_000, message: "The Host header names another server" },
  "origin-unknown": { status: 403, code: -32_000, message: "Pages of this origin are not allowed" },
  "token-unexpected": badRequest("This server serves one user and takes no token: send no Authorization header"),
  "key-unexpected": badRequest("This server takes no X-API-Key header"),
  "credentials-several": badRequest("The request has both an Authorization and an X-API-Key header"),
  "key-unknown": { status: 401, code: -32_000, message: "invalid_key" },
  "token-missing": { status: 401, code: -32_000, message: "A bearer token is needed" },
  "peer-limited": tooMuch("Too many invalid tokens"),
  "token-malformed": badToken,
  "token-type": badToken,
  "token-algorithm": badToken,
  "token-key": badToken,
  "token-signature": badToken,
  "token-issuer": badToken,
  "token-audience": badToken,
  "token-audience-missing": badToken,
  "token-claim": badToken,
  "token-expired": badToken,
  "token-not-yet-valid": badToken,
  "keys-unavailable": { status: 503, code: -32_000, message: "Tokens cannot be verified at present" },
  "token-user": { status: 403, code: -32_000, message: "The token names no user" },
  "token-origin": { status: 403, code: -32_000, message: "The token names no client, or no class of origin" },
  "user-limited": tooMuch("Too many requests in a minute"),
  "token-scope": { status: 403, code: -32_000, message: "insufficient_scope" },
  "user-busy": tooMuch("Too many requests at once"),
  "body-type": { status: 415, code: -32_000, message: "The body must be application/json, without an encoding" },
  "body-too-large": { status: 413, code: -32_000, message: "The body is too large" },
  "body-cut": badRequest("The body is incomplete"),
  "body-unfit": { status: 400, code: -32_700, message: "The body is not JSON that every parser reads the same way" },
  "body-no-message": badRequest(
    "The body is no JSON-RPC message with an id of at most 128 characters, and no batch of 1 to 32 without a handshake",
  ),
  "batch-removed": badRequest("The revisions of MCP from 2025-06-18 on have no batches; expected one message"),
  "streams-full": tooMuch("Too many streams are open"),
} as const satisfies Record<string, RefusalAnswer>;

export type RefusalReason = keyof typeof refusals;

/** Thrown by a check. The audit log gets the reason; the client gets the answer in `refusals`. */
export class RefusedRequest extends Error {
  readonly reason: RefusalReason;
  readonly headers: Readonly<Record<string, string>>;

  constructor(reason: RefusalReason, { headers = {}, cause }: RefusedOptions = {}) {
    super(reason, { cause });
    this.reason = reason;
    this.headers = headers;
  }
}

interface RefusedOptions {
  /** In addition to the headers of every answer. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Only for the operator. */
  readonly cause?: unknown;
}

/** How the clients of a target expect a failure: as JSON-RPC, as `{ error }`, or as a page. */
export type BodyForm = "json-rpc" | "storage" | "page";

/** The body of a refusal. It contains nothing from the request. */
export function errorBody(error: Pick<RefusalAnswer, "code" | "message">, form: BodyForm): string {
  return JSON.stringify(form === "storage" ? { error: error.message } : { jsonrpc: "2.0", id: null, error });
}
