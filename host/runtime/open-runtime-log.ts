import type { AuditLog, AuditLogOptions } from "../audit/audit-log.ts";
import type { PluginIdentity } from "../audit/audit-record.ts";
import type { AuditLogParts } from "../audit/log/file-audit-log.ts";
import type { LogEntry } from "../log/log-entry.ts";
import { writeLog } from "../log/write-log.ts";
import type { JudgedPlugin } from "../plugins/catalog.ts";
import { version } from "../values/version.ts";

export const identityOf = ({ manifest, sha256 }: JudgedPlugin): PluginIdentity => ({
  name: manifest.name,
  version: manifest.version,
  sha256,
});

export type RuntimeLogParts = Pick<AuditLogParts, "isAmongUsers" | "plugins" | "policy" | "waitMs" | "signal"> & {
  readonly onLog: (entry: LogEntry) => void;
};

/** Opens the audit log if the options name one. Throws as `openAuditLog` does. */
export async function openRuntimeLog(
  options: AuditLogOptions | undefined,
  { onLog, ...parts }: RuntimeLogParts,
): Promise<AuditLog | null> {
  if (options === undefined) return null;
  const note = (text: string): void => writeLog(onLog, { level: "warn", tool: "log", userId: "", callId: "", text });
  // Imported on demand: the log is half of the code that a runtime loads.
  const { openAuditLog } = await import("../audit/log/file-audit-log.ts");
  return await openAuditLog(options, { ...parts, memcell: version, note });
}
