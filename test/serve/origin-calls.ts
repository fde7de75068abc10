/** Calls of clients whose origin is configured, and what the audit log says about them. */
import type { OriginClass } from "memcell";

import { legacyRequest, modernRequest } from "../stage/http-requests.ts";
import type { Answer, Asked } from "../stage/http-requests.ts";
import type { HttpStage, ServedHttp, TokenOptions, TokenOrigins } from "../stage/http.ts";
import { entry } from "../stage/serve-lines.ts";

const ofClients: ReadonlyMap<string, OriginClass> = new Map([
  ["web", "direct_user"],
  ["crawler", "tool_external"],
]);

/** Options for tokens that say something about the origin. */
export const originsOf = (changed: Partial<TokenOrigins> = {}): Partial<TokenOptions> => ({
  origins: { clientClaim: "client_id", ofClients, claim: null, ...changed },
});

export const tokenOf = (stage: HttpStage, claims: object = {}, user = "alice"): Promise<string> =>
  stage.issuer.token(user, { claims: { ...claims } });

/** A tool call that writes an entry. Other fields of `_meta` and of the input can be added. */
export const update = (meta?: object, input: object = {}): object => ({
  name: "UpdateUserMemory",
  arguments: { ...entry("a"), ...input },
  ...(meta && { _meta: meta }),
});

/** Calls a tool as a client of 2026-07-28, without a session. */
export function callAlone(served: ServedHttp, token: string, params = update(), headers = {}): Promise<Answer> {
  const { _meta, ...rest } = params as { _meta?: object };
  const sent = modernRequest(token, "tools/call", { params: rest, asked: { headers } });
  const message = JSON.parse(String(sent.body)) as { params: { _meta: object } };
  Object.assign(message.params._meta, _meta);
  return served.ask({ ...sent, body: JSON.stringify(message) });
}

interface InSession {
  readonly session: string;
  readonly params?: object;
  readonly headers?: Asked["headers"];
}

/** Calls a tool in a session of a 2025 revision. */
export function callInSession(served: ServedHttp, token: string, { session, params, headers }: InSession) {
  const message = { id: 1, method: "tools/call", params: params ?? update() };
  return served.ask(legacyRequest(token, message, { session, ...(headers && { headers }) }));
}

interface RecordedOrigin {
  readonly class: OriginClass;
  readonly run: string;
  readonly turn?: string;
  readonly source?: string;
  readonly exposedTo?: readonly OriginClass[];
}

/** The origin of each recorded call, in order. */
export const originsIn = (records: readonly object[]): RecordedOrigin[] =>
  (records as readonly { readonly kind: string; readonly origin?: RecordedOrigin }[]).flatMap(({ kind, origin }) =>
    kind === "call" && origin ? [origin] : [],
  );

export const classesIn = (stage: HttpStage): OriginClass[] => originsIn(stage.records()).map((each) => each.class);
export const runsIn = (stage: HttpStage): string[] => originsIn(stage.records()).map(({ run }) => run);
