/** Check 1: what is asked for, by its exact path. Nothing is decoded, joined or guessed. */
import { RefusedRequest } from "./refusals.ts";

export type TargetKind = "mcp" | "health" | "readiness" | "metadata";

export interface Targets {
  readonly path: string;
  /** Where clients learn who issues tokens, when there is a public URL. */
  readonly metadataPath: string | null;
}

const methods: Record<TargetKind, readonly string[]> = {
  mcp: ["POST", "GET", "DELETE", "OPTIONS"],
  health: ["GET", "HEAD"],
  readiness: ["GET", "HEAD"],
  metadata: ["GET", "HEAD", "OPTIONS"],
};

/**
 * Throws `query-present`, `path-unknown` or `method-unknown`. A query is refused, for that is where tokens end up in logs;
 * other ways to write a path are not the path.
 */
export function checkTarget(url: string, method: string, targets: Targets): TargetKind {
  const kind = kindOf(url, targets);
  if (!kind) {
    const path = url.split("?", 1)[0] ?? "";
    throw new RefusedRequest(path !== url && kindOf(path, targets) ? "query-present" : "path-unknown");
  }
  if (!methods[kind].includes(method)) {
    throw new RefusedRequest("method-unknown", { headers: { Allow: methods[kind].join(", ") } });
  }
  return kind;
}

function kindOf(path: string, targets: Targets): TargetKind | null {
  if (path === targets.path) return "mcp";
  if (path === "/healthz") return "health";
  if (path === "/readyz") return "readiness";
  return path === targets.metadataPath ? "metadata" : null;
}
