import type { Right } from "../../shared/abi.ts";

/** Bounds of every call, none of them above those of `shared/limits.ts`. */
export interface PolicyLimits {
  readonly deadlineMs: number;
  readonly fuelPolls: number;
  readonly memoryPages: number;
  readonly inputBytes: number;
  readonly hostCalls: number;
  readonly stagedBytes: number;
}

export interface ToolPolicy {
  readonly rights: readonly Right[];
  readonly scopes: readonly string[];
}

export interface PluginPolicy {
  /** The only files that may bear the plugin's name, by SHA-256 in hex. `null`: any. */
  readonly sha256: readonly string[] | null;
  readonly tools: ReadonlyMap<string, ToolPolicy>;
}

/** What a host is willing to grant, checked and complete. What it does not name it does not grant. */
export interface Policy {
  /** How messages and reports name it: `default`, or the file's name. */
  readonly name: string;
  /** SHA-256 of its content in one canonical form. */
  readonly sha256: string;
  readonly limits: PolicyLimits;
  readonly plugins: ReadonlyMap<string, PluginPolicy>;
}
