import type { LogEntry, Runtime } from "../api.ts";
import { checkAuditLogOptions } from "../audit/audit-log-options.ts";
import type { AuditLogOptions } from "../audit/audit-log.ts";
import { createRuntime } from "../runtime.ts";
import { UsageError } from "./usage-error.ts";

/** The options that commands which open a runtime have in common. */
export interface OpenOptions {
  readonly data?: string;
  readonly policy?: string;
  readonly "audit-log"?: string;
}

/** A runtime for one command: a single thread, logs on standard error. */
export function openRuntime(options: OpenOptions): Promise<Runtime> {
  const { data: dataDir = "data", policy, "audit-log": file } = options;
  return createRuntime({
    dataDir,
    threadsMax: 1,
    onLog: printLog,
    ...(policy !== undefined && { policy }),
    ...(file !== undefined && { auditLog: logAt(file) }),
  });
}

function logAt(file: string): AuditLogOptions {
  try {
    return checkAuditLogOptions({ file });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : "the audit log cannot be used", { cause: error });
  }
}

function printLog({ level, tool, text }: LogEntry): void {
  process.stderr.write(`${level} ${tool}: ${text}\n`);
}
