import { setImmediate } from "node:timers/promises";

import { transferLimits } from "../archive/transfer-limits.ts";
import type { HeldReader, UnfitFile } from "../store/store.ts";
import type { MemoryFile } from "../values/memory-file.ts";
import { ToolError } from "../values/tool-error.ts";
import { faultOfPath } from "./import-files.ts";
import type { MemoryExport, OnProgress } from "./memory-files.ts";

/** Files that are read before others may have their turn: of the usual size, some milliseconds. */
const filesAtOnce = 64;

/** Reads a whole scope while its user is held, so that all of it is one state. */
export async function exportFiles(
  reader: HeldReader,
  scope: string,
  onProgress: OnProgress = () => {},
): Promise<Omit<MemoryExport, "otherScopes">> {
  const { files: there, unfit } = await reader.survey(scope);
  const listed = there.filter(({ path }) => faultOfPath(path) === null);
  refuseBytes(listed.reduce((sum, { bytes }) => sum + bytes, 0));
  const files: MemoryFile[] = [];
  const leftOut = [...unfit, ...there.flatMap(({ path }) => asLeftOut(path))];
  let sum = 0;
  for (const [at, { path }] of listed.entries()) {
    if (at % filesAtOnce === 0) await setImmediate();
    const content = await reader.bytesOf(scope, path);
    if (content === null) leftOut.push({ path, reason: "it has gone while the export was made" });
    else files.push({ path, content });
    // Whoever edits by hand takes no lock: what was measured may have grown.
    refuseBytes((sum += content?.length ?? 0));
    onProgress(at + 1, listed.length);
  }
  return { files, leftOut: leftOut.toSorted((a, b) => (a.path < b.path ? -1 : 1)) };
}

/** One file of someone else's would keep the whole export out of where it is to go. */
function asLeftOut(path: string): UnfitFile[] {
  const fault = faultOfPath(path);
  return fault === null ? [] : [{ path, reason: fault.reason }];
}

function refuseBytes(bytes: number): void {
  if (bytes <= transferLimits.exportBytesMax) return;
  const message = `Cannot export the memory: it holds ${bytes} bytes, at most ${transferLimits.exportBytesMax} allowed`;
  throw new ToolError("QUOTA_EXCEEDED", message);
}
