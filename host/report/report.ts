import type { Right } from "../../shared/abi.ts";
import type { Artifact } from "../plugins/artifact/artifact.ts";
import type { PolicyLimits, ToolPolicy } from "../plugins/policy/policy.ts";

/** What the host would grant a tool of the plugin. */
export interface ReportedTool {
  readonly name: string;
  /** What its manifest asks for: `model` is offered to models, `host` is not. */
  readonly audience: "model" | "host";
  readonly rights: readonly Right[];
  readonly scopes: readonly string[];
  /** What the policy allows it; `null` when the policy does not name it. A tool that asks for more is refused. */
  readonly allowed: ToolPolicy | null;
}

/** A package that was linked into the plugin. */
export interface Dependency {
  readonly name: string;
  readonly version: string;
  /** An SPDX expression. */
  readonly licence: string;
}

/** Where the artifact, the policy or the build differ from what they should be. */
export interface Deviation {
  readonly about: "file" | "policy";
  /** A sentence for a reviewer. */
  readonly text: string;
}

/** What `memcell audit` tells of one plugin file, in text, JSON and HTML. */
export interface AuditReport {
  readonly verdict: "PASS" | "FAIL";
  readonly deviations: readonly Deviation[];
  readonly artifact: Artifact;
  readonly policy: { readonly name: string; readonly sha256: string; readonly pins: readonly string[] | null };
  readonly tools: readonly ReportedTool[];
  /** The least of what the policy, the manifest and `shared/limits.ts` say. */
  readonly limits: PolicyLimits;
  /** `null` when no list of components accounts for this very file. */
  readonly dependencies: readonly Dependency[] | null;
}
