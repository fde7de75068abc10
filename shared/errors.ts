/**
 * The closed table of error codes.
 *
 * `blame` says whose fault it was: the `caller` (the model or program that called the tool), the `guest` (the plugin),
 * or the `host` (this runtime or its machine). `retryable` says whether the same call can succeed later without any
 * change. Codes are the contract; messages can change.
 */
export interface ErrorEntry {
  readonly blame: "caller" | "guest" | "host";
  readonly retryable: boolean;
  /** One sentence. */
  readonly meaning: string;
}

const entry = (blame: ErrorEntry["blame"], retryable: boolean, meaning: string): ErrorEntry => ({
  blame,
  retryable,
  meaning,
});

export const errorTable = {
  INPUT_INVALID: entry("caller", false, "The input does not fit the tool's schema or is too large."),
  TOOL_UNKNOWN: entry("caller", false, "No loaded plugin offers a tool of this name."),
  USER_REQUIRED: entry("caller", false, "The call's context names no user."),
  USER_INVALID: entry("caller", false, "The context's user id cannot name a folder."),
  ENTRY_NOT_FOUND: entry("caller", false, "The user has no entry of this name."),
  ENTRY_UNREADABLE: entry("caller", false, "The entry's file is there, but it cannot be read as one."),
  NAME_RESERVED: entry(
    "caller",
    false,
    "The name belongs to the plugin itself or to a device of some operating system.",
  ),
  NAME_CONFLICT: entry("caller", false, "The name is taken, or differs from an existing one only by case."),
  VERSION_CONFLICT: entry("caller", false, "The entry has changed since its writer read it."),
  WRITE_PENDING: entry(
    "caller",
    false,
    "The write waits for the approval of the memory's owner, because of where its text comes from. Nothing has changed.",
  ),
  WRITE_REFUSED: entry("caller", false, "The policy lets no write take effect whose text comes from there."),
  QUOTA_EXCEEDED: entry("caller", false, "The user's quota, in number or in bytes, is used up."),
  BUSY: entry(
    "caller",
    true,
    "Too many calls wait, the user's turn, a thread or the answer of `contextualAccess` does not come in time, or another process holds the user's folder or a store.",
  ),
  READ_ONLY: entry("caller", false, "The runtime is read-only, and this would change something."),
  CLOSED: entry("caller", false, "The runtime is closed."),
  CANCELLED: entry("caller", true, "The caller cancelled the call, or closed the runtime before it had ended."),
  CAPABILITY_DENIED: entry("guest", false, "The plugin requested something that its grant does not include."),
  OUTPUT_INVALID: entry("guest", false, "The plugin's answer is not an envelope."),
  GUEST_TRAPPED: entry("guest", false, "The plugin's code crashed."),
  FUEL_EXHAUSTED: entry("guest", false, "The plugin used up its computing budget."),
  DEADLINE_EXCEEDED: entry("guest", true, "The plugin did not answer in time."),
  MEMORY_EXCEEDED: entry("guest", false, "The plugin needed more wasm memory than its maximum."),
  OUTPUT_TOO_LARGE: entry("guest", false, "The plugin's answer is larger than allowed."),
  PLUGIN_REFUSED: entry("host", false, "The plugin file is not what its manifest or the host's policy says."),
  STORAGE_UNSAFE: entry(
    "host",
    false,
    "Something in the user's folder is not a plain file or folder that the host may open, such as a link.",
  ),
  STORAGE_FULL: entry("host", false, "The disk or its quota is full, until somebody frees space."),
  STORAGE_FAILED: entry(
    "host",
    false,
    "The disk refused to read or write, and will until somebody mends it; or a change was interrupted that a read-only runtime does not finish.",
  ),
  STORAGE_BUSY: entry(
    "host",
    true,
    "The machine is short of open files, memory or locks, so the disk cannot be used now.",
  ),
  INTERNAL: entry("host", false, "A fault of the runtime itself."),
} as const satisfies Record<string, ErrorEntry>;

export type ErrorCode = keyof typeof errorTable;

/** The codes for faults that a plugin finds in a call. Each code that a plugin declares is a case of one of these. */
export const declarableCodes = [
  "INPUT_INVALID",
  "ENTRY_NOT_FOUND",
  "ENTRY_UNREADABLE",
  "NAME_RESERVED",
  "NAME_CONFLICT",
  "VERSION_CONFLICT",
  "QUOTA_EXCEEDED",
] as const satisfies readonly ErrorCode[];

/** A code of the table, or one that a plugin's manifest declares. Editors still suggest the table's codes. */
export type AnyErrorCode = ErrorCode | (string & {});

/** A failure's code. */
export interface FailureName {
  readonly code: AnyErrorCode;
  /** The table's code that a plugin's declared code is a case of. Absent for a code of the table. */
  readonly of?: ErrorCode | undefined;
}

export const errorCodes: readonly ErrorCode[] = Object.keys(errorTable) as ErrorCode[];
