/** A runtime that only writes its audit log, in a test or in a process of its own. */
import { join } from "node:path";

import { createRuntime } from "memcell";
import type { AuditLogOptions, Runtime, RuntimeOptions } from "memcell";

export const logName = "audit.jsonl";
export const headName = `${logName}.head`;
/** The name of a full file whose first record has this number. */
export const fullName = (seq: number): string => `${logName}.${String(seq).padStart(12, "0")}.jsonl`;

export const smallestFile = 64 * 1024;

export interface WritingLog {
  readonly runtime: Runtime;
  /** What the operator was told. */
  readonly notes: readonly string[];
  /** Makes a call of which the log gets one record, `call-<count>`. Returns `ok` if it did, or an error's code. */
  call(count: number): Promise<string>;
  /** The same with a record of 6 KB, eleven of which fill the smallest file. */
  longCall(count: number): Promise<string>;
}

/** A runtime without plugins, which refuses every call and records it. */
export async function openLog(
  folder: string,
  { file = join(folder, logName), fileBytesMax, onFailure, ...options }: Partial<AuditLogOptions & RuntimeOptions> = {},
): Promise<WritingLog> {
  const notes: string[] = [];
  const auditLog = { file, ...(fileBytesMax !== undefined && { fileBytesMax }), ...(onFailure && { onFailure }) };
  const onLog: RuntimeOptions["onLog"] = ({ text }) => void notes.push(text);
  const own = { dataDir: join(folder, "data"), plugins: [], threadsMax: 1, auditLog, onLog };
  const runtime = await createRuntime({ ...own, ...options });
  const call = async (count: number, labels = {}): Promise<string> => {
    const result = await runtime.call("Nothing", {}, { userId: `user-${count % 7}`, callId: `call-${count}`, labels });
    const code = result.ok ? "" : result.error.code;
    return code === "TOOL_UNKNOWN" ? "ok" : code;
  };
  return { runtime, notes, call: (count) => call(count), longCall: (count) => call(count, longLabels) };
}

export const longLabels: Readonly<Record<string, string>> = Object.fromEntries(
  Array.from({ length: 16 }, (_, at) => [`${at}`.padStart(64, "n"), "~".repeat(256)]),
);

/** One run of a runtime: opens the log, makes calls, closes it. */
export async function writeRun(
  folder: string,
  calls: readonly number[] = [],
  { isLong = false, ...options }: Parameters<typeof openLog>[1] & { isLong?: boolean } = {},
): Promise<void> {
  const log = await openLog(folder, options);
  for (const count of calls) {
    const code = await (isLong ? log.longCall(count) : log.call(count));
    if (code !== "ok") throw new Error(`The call ${count} was not recorded: ${code}`);
  }
  await log.runtime.close();
}
