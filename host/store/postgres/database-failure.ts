/** Turns errors of the database and of its client into `ToolError`s. Their own words never reach a caller. */
import type { ErrorCode } from "../../../shared/errors.ts";
import { ToolError } from "../../values/tool-error.ts";
import { StaleCall } from "../plan-changes.ts";

type Reason = readonly [ErrorCode, string];

const unreachable: Reason = ["STORAGE_BUSY", "the database cannot be reached"];

/** By SQLSTATE, or by its class. */
const known: Readonly<Record<string, Reason>> = {
  "53100": ["STORAGE_FULL", "the database's disk is full"],
  "53": ["STORAGE_BUSY", "the database is short of connections or memory"],
  "57014": ["STORAGE_BUSY", "the database has cancelled it"],
  "57": unreachable,
  "08": unreachable,
  "25006": ["STORAGE_FAILED", "the database is read-only"],
  "25P03": unreachable,
  "25P04": unreachable,
  "28": ["STORAGE_FAILED", "the database refuses the host's role"],
  "3D": ["STORAGE_FAILED", "there is no such database"],
  "42501": ["CAPABILITY_DENIED", "the database denies it"],
  "42": ["STORAGE_FAILED", "the database has other tables, or other rights: see memcell db check"],
  "58": ["STORAGE_FAILED", "the database's disk has an error"],
  XX: ["STORAGE_FAILED", "the database has found damage"],
};

/** The codes that `migrations/0004-changes.sql` raises, and those of transactions that got in each other's way. */
const stale = new Set(["MC001", "40001", "40P01"]);
const lockNotAvailable = "55P03";

/** Returns errors that are not the database's as they are. `tooLong`: the error of a wait for others. */
export function failureOfDatabase(error: unknown, action: string, tooLong: () => ToolError): unknown {
  if (error instanceof ToolError) return error;
  const state = sqlStateOf(error);
  if (state === lockNotAvailable) return tooLong();
  if (state !== null && stale.has(state)) return new StaleCall();
  if (state === null && !isOfConnection(error)) return error;
  const [code, reason] = known[state ?? "08"] ?? known[state?.slice(0, 2) ?? ""] ?? refused;
  return new ToolError(code, `Cannot ${action}: ${reason}`, { cause: error });
}

const refused: Reason = ["STORAGE_FAILED", "the database refused"];

/** Whether it is not known what became of the last statement: the connection is gone. */
export function isConnectionLost(error: unknown): boolean {
  const state = sqlStateOf(error);
  return state === null ? isOfConnection(error) : /^(?:08|57P0)/.test(state);
}

/** `null` for an error that the server has not sent. */
function sqlStateOf(error: unknown): string | null {
  const { code, severity } = error as { readonly code?: unknown; readonly severity?: unknown };
  return typeof code === "string" && severity !== undefined ? code : null;
}

/** Of the client or of the system, as opposed to an error of ours. */
function isOfConnection(error: unknown): boolean {
  if (!(error instanceof Error) || error instanceof TypeError || error instanceof RangeError) return false;
  return "errno" in error || "code" in error || /connection|timeout|terminat|queryable/i.test(error.message);
}
