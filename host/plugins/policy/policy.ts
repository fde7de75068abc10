import type { Right } from "../../../shared/abi.ts";

/** Bounds of every call, none of them above those of `shared/limits.ts`. */
export interface PolicyLimits {
  /** How long a guest may run, in milliseconds. */
  readonly deadlineMs: number;
  /** A guest's computing budget, in polls of the engine that the build links in; other guests the deadline ends. */
  readonly fuelPolls: number;
  /** How far a guest's memory may grow, in pages of 64 KiB. */
  readonly memoryPages: number;
  /** The input of a call as JSON, in UTF-8 bytes. */
  readonly inputBytes: number;
  /** Capability requests of one call. */
  readonly hostCalls: number;
  /** What one call may write, in UTF-8 bytes. */
  readonly stagedBytes: number;
}

export interface ToolPolicy {
  readonly rights: readonly Right[];
  readonly scopes: readonly string[];
  /** `host`: no model may be offered it. `model`: anybody may. */
  readonly audience: "model" | "host";
}

export interface PluginPolicy {
  /** The only files that may bear the plugin's name, by SHA-256 in hex. `null`: any. Empty: none, as the lock file pins none. */
  readonly sha256: readonly string[] | null;
  readonly tools: ReadonlyMap<string, ToolPolicy>;
}

/** What a host is willing to grant, checked and complete. What it does not name it does not grant. */
export interface Policy {
  /** How messages and reports name it: `default`, the file's name, or `inline` when a program has passed an object. */
  readonly name: string;
  /** SHA-256 of what it says, however it is written: limits complete, pins of the lock file included. */
  readonly sha256: string;
  readonly limits: PolicyLimits;
  readonly plugins: ReadonlyMap<string, PluginPolicy>;
}
