import type { LogEntry } from "../api.ts";
import type { JudgedPlugin } from "../catalog.ts";
import { version } from "../version.ts";
import { writeLog } from "../write-log.ts";
import type { AuditLog, AuditLogOptions } from "./audit-log.ts";
import type { PluginIdentity } from "./audit-record.ts";
import type { AuditLogParts } from "./file-audit-log.ts";

export const identityOf = ({ manifest, sha256 }: JudgedPlugin): PluginIdentity => ({
  name: manifest.name,
  version: manifest.version,
  sha256,
});

type RuntimeParts = Pick<AuditLogParts, "dataDir" | "plugins" | "policy" | "waitMs"> & {
  readonly onLog: (entry: LogEntry) => void;
};

/** The log of a runtime's options, if they name one. Throws as `openAuditLog`. */
export async function openRuntimeLog(
  options: AuditLogOptions | undefined,
  { onLog, ...parts }: RuntimeParts,
): Promise<AuditLog | null> {
  if (options === undefined) return null;
  const note = (text: string): void => writeLog(onLog, { level: "warn", tool: "log", userId: "", callId: "", text });
  // Half of what the runtime loads is only for those who keep a log.
  const { openAuditLog } = await import("./file-audit-log.ts");
  return await openAuditLog(options, { ...parts, memcell: version, note });
}
