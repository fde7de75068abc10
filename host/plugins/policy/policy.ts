import type { Right } from "../../../shared/abi.ts";
import { callLimits, guestLimits } from "../../../shared/limits.ts";
import type { OriginClass } from "../../../shared/origin.ts";
import type { HistoryLimits } from "../../values/history-limits.ts";

/** Bounds of every call, never above those of `shared/limits.ts`. */
export interface PolicyLimits {
  /** How long a guest may run, in milliseconds. */
  readonly deadlineMs: number;
  /** A guest's computing budget, in polls of the engine that the build links in. Other guests have only a deadline. */
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
  /** `host`: the tool must not be offered to models. `model`: no restriction. */
  readonly audience: "model" | "host";
}

/** What becomes of writes and entries by their trust. Each is the lowest trust for which it holds. */
export interface TrustPolicy {
  /** From here on, a write takes effect at once. */
  readonly active: OriginClass;
  /** From here on, a write that does not take effect at once waits for its owner. Below, it is refused. */
  readonly pending: OriginClass;
  /** From here on, an entry is in the prompt's index. Below, only a search or a read finds it. */
  readonly prompt: OriginClass;
}

export interface PluginPolicy {
  /** The SHA-256 of the allowed plugin files, in hex. `null`: any. Empty: none, because the lock file pins none. */
  readonly sha256: readonly string[] | null;
  readonly trust: TrustPolicy;
  readonly tools: ReadonlyMap<string, ToolPolicy>;
}

/** What a host is willing to grant, checked and complete. Anything that it does not name is not granted. */
export interface Policy {
  /** The name in messages and reports: `default`, the file's name, or `inline` for an object from a program. */
  readonly name: string;
  /** The SHA-256 of the policy's meaning, however it is written: with all limits and the lock file's pins. */
  readonly sha256: string;
  readonly limits: PolicyLimits;
  readonly history: HistoryLimits;
  /** Whether it refuses a plugin that asks for more than it grants, instead of taking that away. */
  readonly isStrict: boolean;
  readonly plugins: ReadonlyMap<string, PluginPolicy>;
}

/**
 * What nobody has told is active: most programs tell nothing. What comes from outside the program waits, whatever its
 * text says.
 */
export const trustDefaults: TrustPolicy = {
  active: "unstated",
  pending: "untrusted_document",
  prompt: "untrusted_document",
};

/** The default limits of a policy. No policy may exceed them. */
export const policyLimitsMax: PolicyLimits = {
  deadlineMs: guestLimits.deadlineMs,
  fuelPolls: guestLimits.fuelPollsMax,
  memoryPages: guestLimits.memoryPagesMax,
  inputBytes: callLimits.inputBytesMax,
  hostCalls: callLimits.hostCallsMax,
  stagedBytes: callLimits.stagedBytesMax,
};
