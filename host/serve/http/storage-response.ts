/** A storage request that has passed the checks, converted from Node's form to that of `../storage/`, and its answer. */
import type { IncomingMessage } from "node:http";

import type { Runtime } from "../../runtime/api.ts";
import { originOfRequest } from "../mcp/client-origin.ts";
import type { HttpServeOptions } from "../serve-options.ts";
import { answerStorage } from "../storage/answer-storage.ts";
import type { StorageAnswer } from "../storage/storage-answer.ts";
import { StorageRefusal } from "../storage/storage-refusal.ts";
import type { StorageAddress } from "./check-request.ts";
import { hasBody, readJson } from "./read-body.ts";
import type { Admitted } from "./verify-token.ts";

export interface StorageCall {
  readonly req: IncomingMessage;
  readonly target: StorageAddress;
  readonly identity: Admitted;
  /** Aborted when the client is gone. */
  readonly gone: AbortSignal;
  /** Records a refusal. */
  readonly record: (reason: string) => void;
}

interface StorageParts {
  readonly runtime: Runtime;
  readonly options: HttpServeOptions;
}

/** Throws a reason that begins with `body-`. */
export async function storageResponse(call: StorageCall, { runtime, options }: StorageParts): Promise<Response> {
  const { req, target, identity, gone, record } = call;
  const { storage, bodyBytesMax } = options;
  if (storage === null) throw new TypeError("There are no storage routes");
  const method = req.method ?? "";
  const body = hasBody(method) ? (await readJson(req, bodyBytesMax)).value : undefined;
  const hasContentType = req.headers["content-type"] !== undefined;
  const { userId, client, originClass } = identity;
  const labels = { via: "http-storage", ...identity.labels };
  const ctx = { userId, signal: gone, labels, ...originOfRequest({ client, originClass, connection: null }) };
  const request = { target: target.storage, query: target.query, method, body, hasContentType };
  const ofRequest = identity.access === "write" ? runtime : runtime.asReadOnly();
  try {
    return responseFor(await answerStorage(request, { runtime: ofRequest, ctx, options: storage }));
  } catch (error) {
    if (!(error instanceof StorageRefusal)) throw error;
    record(error.reason);
    return responseFor({ status: error.status, body: { error: error.message } });
  }
}

function responseFor({ status, body, isRetryable }: StorageAnswer): Response {
  const headers = { "Content-Type": "application/json", ...(isRetryable && status === 503 && { "Retry-After": "1" }) };
  return new Response(JSON.stringify(body), { status, headers });
}
