import { auditLimits } from "../../shared/limits.ts";
import { quoted } from "../../shared/text.ts";
import type { AuditLogOptions } from "../audit/audit-log.ts";
import { readSettings } from "../config/read-settings.ts";
import type { Settings } from "../config/read-settings.ts";
import type { SettingValues } from "../config/settings.ts";
import { sourceText } from "../config/source.ts";
import { storeFor } from "../config/store-settings.ts";
import type { PlaceOfMemory } from "../config/store-settings.ts";
import { UsageError } from "../config/usage-error.ts";
import { CredentialDetector } from "../detect/credentials.ts";
import { isNameTaken } from "../disk/bounded-file.ts";
import type { Besides } from "../plugins/bundled-plugins.ts";
import type { Runtime } from "../runtime/api.ts";
import { checkAuditLogOptions } from "../runtime/audit-log-options.ts";
import type { RuntimeOptions } from "../runtime/options.ts";
import { createRuntime, createRuntimeWith } from "../runtime/runtime.ts";
import { ToolError } from "../values/tool-error.ts";
import { visibleLines } from "../values/visible-text.ts";
import type { CommandLine } from "./command.ts";
import type { Output } from "./terminal.ts";

/** What a command line says of a runtime. */
type Line = Pick<CommandLine, "settings" | "terminal">;

interface Opening extends Pick<RuntimeOptions, "retiresLeftOver"> {
  /** Whether the command changes nothing. Then it does not open the audit log, which a server can be writing. */
  readonly isReading?: boolean;
  /** Whether there has to be a data folder. Otherwise a misspelt one would look like an empty one. */
  readonly isOwners?: boolean;
  /** The plugins of the package that the command needs, whatever the setting `plugins` names. Default: none. */
  readonly besides?: Besides;
}

/**
 * Creates a runtime for one command from its flags, the environment and the config file. It has one thread, and its
 * mounts belong to `userId`.
 */
export async function openRuntime(
  { settings: flags, terminal }: Line,
  userId: string | undefined,
  { besides = [], isReading = false, isOwners = false, ...options }: Opening = {},
): Promise<Runtime> {
  const settings = await readSettings(flags);
  const place = await storeFor(settings, userId);
  if (isOwners) await refuseMissing(settings, place);
  const { auditLog, ...others } = runtimeOptions(settings.values, terminal.stderr);
  const logWaitMs = Math.min(settings.values.waitMs, auditLimits.openMs);
  const all = { ...others, ...options, ...place, ...(auditLog && !isReading && { auditLog }), threadsMax: 1 };
  return await createRuntimeWith(all, { besides, logWait: { waitMs: logWaitMs } });
}

/** A runtime, and the user whom the command line, the configuration, or the store names, if only one is there. */
export async function openForUser(
  line: Line,
  named: string | undefined,
  opening: Opening,
): Promise<AsyncDisposable & { readonly runtime: Runtime; readonly userId: string }> {
  const { values } = await readSettings(line.settings);
  const said = named ?? values["serve.user"] ?? undefined;
  const runtime = await openRuntime(line, said, opening);
  try {
    const userId = said ?? onlyOne(await runtime.upkeep.users());
    return { runtime, userId, [Symbol.asyncDispose]: () => runtime.close() };
  } catch (error) {
    await runtime.close();
    throw error;
  }
}

function onlyOne(users: readonly string[]): string {
  const [first, ...others] = users;
  if (first === undefined) throw new UsageError("nobody's memory is stored here yet; expected --user ID");
  if (others.length === 0) return first;
  const shown = users
    .slice(0, usersShownMax)
    .map((user) => quoted(user))
    .join(", ");
  throw new UsageError(`${users.length} users are stored here; expected --user with one of them, such as ${shown}`);
}

const usersShownMax = 5;

async function refuseMissing({ values: { data }, sources }: Settings, place: PlaceOfMemory): Promise<void> {
  if (!("dataDir" in place) || place.mounts.length > 0 || (await isNameTaken(data))) return;
  const source = sourceText(sources.data);
  throw new ToolError("ENTRY_NOT_FOUND", `Cannot open the data folder ${quoted(data)} (${source}): it does not exist`);
}

/** Throws `ENTRY_NOT_FOUND` if nothing is stored of a user: the id can be misspelt. */
export async function refuseUnknown(runtime: Runtime, userId: string, action: string): Promise<void> {
  if ((await runtime.upkeep.users()).includes(userId)) return;
  throw new ToolError("ENTRY_NOT_FOUND", `Cannot ${action}: nothing is stored of the user ${quoted(userId)}`);
}

/** Creates a runtime that only describes its plugins. It opens no audit log, so other commands can hold the log. */
export async function openCatalog({ settings: flags, terminal }: Line): Promise<Runtime> {
  const { values } = await readSettings(flags);
  const { memoryStore } = await import("../store/memory/memory-engine.ts");
  const options = runtimeOptions({ ...values, auditLog: null }, terminal.stderr);
  return await createRuntime({ ...options, store: memoryStore(), threadsMax: 1 });
}

/** Converts settings to runtime options; logs go to `stderr`. Throws `UsageError` for an invalid audit log. */
export function runtimeOptions(values: SettingValues, stderr: Output): RuntimeOptions {
  const { policy, readOnly, detectCredentials, auditLog, plugins, waitMs } = values;
  const { deadlineMs, threadsMax } = values;
  return {
    plugins,
    waitMs,
    readOnly,
    onLog: ({ level, tool, text }) => void stderr.write(`${level} ${tool}: ${visibleLines(text, "  ")}\n`),
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
