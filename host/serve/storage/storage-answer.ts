/** The answers of the storage routes: JSON, and for failures `{ error }`, as their clients expect. */
import type { ErrorCode } from "../../../shared/errors.ts";
import type { ToolFailure, ToolResult } from "../../values/tool-result.ts";

export interface StorageAnswer {
  readonly status: number;
  readonly body: unknown;
  /** Whether the client can send the same request again later. */
  readonly isRetryable?: boolean;
}

export const done = (body: unknown): StorageAnswer => ({ status: 200, body });

/** The answer for a call's data, or for its failure. */
export function answerFor(result: ToolResult, shown: (data: unknown) => unknown): StorageAnswer {
  return result.ok ? done(shown(result.data)) : failureAnswer(result.error);
}

/** The answer of a route that shows entries, with where they come from: clients hand it to a model as it is. */
export function entriesFor(result: ToolResult, shown: (data: unknown) => object): StorageAnswer {
  return answerFor(result, (data) => withOrigins(shown(data), result));
}

/** Behind what the plugin has answered. */
export function withOrigins(body: object, result: ToolResult): object {
  return result.ok && result.origins !== undefined ? { ...body, origins: result.origins } : body;
}

/** An entry as the plugin returns it. */
export interface EntryData {
  readonly path: string;
  readonly key: string;
  readonly storeId: string;
}

/** The same without its path, which is no address on these routes. */
export const shownEntry = ({ path: _path, ...entry }: EntryData): Omit<EntryData, "path"> => entry;

const ofPlugin: Readonly<Record<string, number>> = {
  ACCESS_DENIED: 403,
  NOT_CREATOR: 403,
  VALUE_TOO_LARGE: 413,
  KEY_LIMIT_REACHED: 429,
};

const ofTable: Partial<Readonly<Record<ErrorCode, number>>> = {
  INPUT_INVALID: 400,
  NAME_RESERVED: 400,
  ENTRY_NOT_FOUND: 404,
  ENTRY_UNREADABLE: 409,
  NAME_CONFLICT: 409,
  VERSION_CONFLICT: 409,
  QUOTA_EXCEEDED: 413,
  BUSY: 503,
  CLOSED: 503,
  CANCELLED: 503,
  STORAGE_FULL: 507,
  STORAGE_BUSY: 503,
};

export function failureAnswer(failure: ToolFailure): StorageAnswer {
  if (isUnavailable(failure)) return { status: 403, body: { error: "Not available on this server" } };
  const { code, of = code as ErrorCode, retryable } = failure;
  const status = ofPlugin[code] ?? ofTable[of] ?? 500;
  return { status, body: { error: messageOf(failure) }, isRetryable: retryable };
}

/** Whether the policy, or being read-only, has taken the tool or the command away: the routes name no others. */
function isUnavailable({ code, issues }: ToolFailure): boolean {
  return code === "TOOL_UNKNOWN" || (code === "INPUT_INVALID" && issues?.[0]?.field === "command");
}

function messageOf({ message, blame, issues }: ToolFailure): string {
  // What went wrong in the host or in a plugin is the operator's business.
  if (blame !== "caller") return "Internal error";
  const [issue] = issues ?? [];
  if (issue === undefined) return message;
  // Here a key is no part of a path.
  return `The field ${issue.field === "path" ? "key" : issue.field} is wrong, allowed: ${issue.allowed}`;
}
