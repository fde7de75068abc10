import type { ToolError } from "memcell";

/** Words that a caller must never read: of the database, of its client, of the way to it. */
const inner = [
  /\b(?:select|insert|update|delete|begin|commit|rollback|sql|sqlstate|relation|table|schema|role|query|queryable)\b/i,
  /memcell[._]|\bpg_|postgres|\bE[A-Z]{4,}\b|\/tmp|\.s\.|\bport\b|socket|localhost|(?:\d+\.){3}\d+|errno|terminat/i,
];

export const isInner = (text: string): boolean => inner.some((words) => words.test(text));

/** The codes that a fault of the database can have, and whether a call can be repeated. */
const codes = new Map([
  ["STORAGE_BUSY", true],
  ["BUSY", true],
  ["STORAGE_FAILED", false],
  ["STORAGE_FULL", false],
]);

/** What is wrong with an error that a caller gets; `null` if nothing. */
export function unfit(thrown: unknown): string | null {
  // The tests use the host's sources and the package side by side, and each has a class of its own.
  if (!(thrown instanceof Error) || thrown.name !== "ToolError") return `no ToolError: ${String(thrown)}`;
  const { code, retryable, message, hint = "" } = thrown as ToolError;
  if (retryable !== codes.get(code)) return `code ${code}, retryable: ${retryable}`;
  return isInner(`${message} ${hint}`) ? `its message: ${message}` : null;
}
