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

/** What `migrations/0004-changes.sql` raises for what has changed, and of transactions that got in each other's way. */
const stale = new Set(["MC001", "40001", "40P01"]);
const lockNotAvailable = "55P03";

/** What the database, its client or the way to it has answered. */
export class DatabaseError extends Error {
  /** Of the statements that were sent together, the one that failed; -1 if none was sent. */
  readonly at: number;
  /** The SQLSTATE; `null` if the server has sent none. */
  readonly state: string | null;

  constructor(cause: unknown, at = -1) {
    super("The database has failed", { cause });
    this.at = at;
    this.state = sqlStateOf(cause);
  }

  /** Whether it is not known what became of the statements: the connection is gone. */
  get isLost(): boolean {
    return this.state === null ? isOfConnection(this.cause) : /^(?:08|57P0|25P0[34])/.test(this.state);
  }
}

/** Nobody knows yet whether the database has made a commit: the connection was lost. */
export class UnknownOutcome extends Error {}

/** Returns errors that are not the database's as they are. `tooLong`: the error of a wait for others. */
export function failureOfDatabase(error: unknown, action: string, tooLong: () => ToolError): unknown {
  if (error instanceof UnknownOutcome) {
    return new ToolError("STORAGE_FAILED", `Cannot ${action}: the connection was lost at the commit`, { cause: error });
  }
  if (!(error instanceof DatabaseError)) return error;
  const { state, cause } = error;
  if (state === lockNotAvailable) return tooLong();
  if (state !== null && stale.has(state)) return new StaleCall({ cause });
  const [code, reason] = reasonOf(error);
  return new ToolError(code, `Cannot ${action}: ${reason}`, { cause });
}

function reasonOf({ state, isLost }: DatabaseError): Reason {
  if (state === null) return isLost ? unreachable : refused;
  return known[state] ?? known[state.slice(0, 2)] ?? refused;
}

const refused: Reason = ["STORAGE_FAILED", "the database refused"];

function sqlStateOf(error: unknown): string | null {
  const { code, severity } = error as { readonly code?: unknown; readonly severity?: unknown };
  return typeof code === "string" && severity !== undefined ? code : null;
}

/** Of the client or of the system, as opposed to a mistake. */
function isOfConnection(error: unknown): boolean {
  if (!(error instanceof Error) || error instanceof TypeError || error instanceof RangeError) return false;
  return "errno" in error || "code" in error || /connection|timeout|terminat|queryable/i.test(error.message);
}
