import type { AuditLogOptions } from "../audit/audit-log.ts";
import { checkAuditLogOptions } from "../audit/log/log-names.ts";
import { readSettings } from "../config/read-settings.ts";
import type { SettingFlags } from "../config/read-settings.ts";
import type { SettingValues } from "../config/settings.ts";
import { storeFor } from "../config/store-settings.ts";
import { UsageError } from "../config/usage-error.ts";
import { CredentialDetector } from "../detect/credentials.ts";
import type { LogEntry } from "../log/log-entry.ts";
import type { Besides } from "../plugins/bundled-plugins.ts";
import type { Runtime } from "../runtime/api.ts";
import type { RuntimeOptions } from "../runtime/options.ts";
import { createRuntime, createRuntimeWith } from "../runtime/runtime.ts";
import { memoryStore } from "../store/memory/define-memory.ts";
import { visibleLines } from "../values/visible-text.ts";

interface Opening extends Pick<RuntimeOptions, "retiresLeftOver"> {
  /** The plugins of the package that the command needs, whatever the setting `plugins` names. Default: none. */
  readonly besides?: Besides;
}

/**
 * Creates a runtime for one command from its flags, the environment and the config file. It has one thread, and its
 * mounts belong to `userId`.
 */
export async function openRuntime(
  flags: SettingFlags,
  userId: string | undefined,
  { besides = [], ...options }: Opening = {},
): Promise<Runtime> {
  const settings = await readSettings(flags);
  const all = { ...runtimeOptions(settings.values), ...options, ...storeFor(settings, userId), threadsMax: 1 };
  return await createRuntimeWith(all, besides);
}

/** Creates a runtime that only describes its plugins. It opens no audit log, so other commands can hold the log. */
export async function openCatalog(flags: SettingFlags): Promise<Runtime> {
  const { values } = await readSettings(flags);
  return await createRuntime({ ...runtimeOptions({ ...values, auditLog: null }), store: memoryStore(), threadsMax: 1 });
}

/** Converts settings to runtime options; logs go to standard error. Throws `UsageError` for an invalid audit log. */
export function runtimeOptions(values: SettingValues): RuntimeOptions {
  const { policy, readOnly, detectCredentials, auditLog, plugins, waitMs } = values;
  const { deadlineMs, threadsMax } = values;
  return {
    plugins,
    waitMs,
    readOnly,
    onLog: printLog,
    ...(detectCredentials && { onWrite: new CredentialDetector().onWrite }),
    ...(policy !== null && { policy }),
    ...(auditLog !== null && { auditLog: logAt(auditLog) }),
    ...(deadlineMs !== null && { deadlineMs }),
    ...(threadsMax !== null && { threadsMax }),
  };
}

function logAt(file: string): AuditLogOptions {
  try {
    return checkAuditLogOptions({ file });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : "the audit log cannot be used", { cause: error });
  }
}

function printLog({ level, tool, text }: LogEntry): void {
  process.stderr.write(`${level} ${tool}: ${visibleLines(text, "  ")}\n`);
}
