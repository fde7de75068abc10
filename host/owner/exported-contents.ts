/**
 * The contents of files that an export has listed before, without a long hold: some are read at a time, and only what is as it
 * was then is exported. So all of a scope is from one moment, although others change it meanwhile.
 */
import type { HeldHome } from "../store/held-homes.ts";
import { digestOf } from "../store/reading.ts";
import type { ExportedFile, MemoryFile } from "../values/memory-file.ts";
import { ToolError } from "../values/tool-error.ts";
import { keptContent } from "./kept-content.ts";
import type { LeftOutFile, OnProgress, OpenExport } from "./memory-files.ts";
import { ifUnsafe } from "./operate.ts";

/** How many files of a scope are read in one hold: so many, or of so many bytes. One file is less than that. */
const [filesAtOnce, bytesAtOnce] = [256, 8 * 1024 * 1024];

interface ReadingLater {
  /** Holds the home of a scope while some of its files are read. */
  readonly hold: <Result>(scope: string, work: (held: HeldHome) => Promise<Result>) => Promise<Result>;
  readonly onProgress?: OnProgress | undefined;
  /** Called for a file that is left out. Default: it is noted. */
  readonly leave?: (file: LeftOutFile) => void;
}

export function openedExport(
  { files, leftOut }: Pick<OpenExport, "files" | "leftOut">,
  { hold, onProgress = () => {}, leave }: ReadingLater,
): OpenExport {
  const allLeftOut = [...leftOut];
  const leaveOut = leave ?? ((file: LeftOutFile) => void allLeftOut.push(file));
  async function* contents(): AsyncGenerator<MemoryFile> {
    let done = 0;
    for (const batch of batchesOf(files)) {
      const found = await hold(batch[0].scope, (held) => contentsIn(held, batch));
      for (const [at, { bytes: _bytes, sha256: _hash, ...file }] of batch.entries()) {
        const content = found[at] ?? null;
        onProgress(++done, files.length);
        if (content !== null) yield { ...file, content };
        else leaveOut({ scope: file.scope, path: file.path, reason: "it was edited during the export" });
      }
    }
  }
  return { files, leftOut: allLeftOut, contents };
}

type Batch = [ExportedFile, ...ExportedFile[]];

/** Files that are next to each other, each time of one scope. */
function* batchesOf(files: readonly ExportedFile[]): Generator<Batch> {
  let batch: Batch | null = null;
  let bytes = 0;
  for (const file of files) {
    bytes += file.bytes;
    if (batch?.[0].scope === file.scope && batch.length < filesAtOnce && bytes <= bytesAtOnce) {
      batch.push(file);
      continue;
    }
    if (batch !== null) yield batch;
    batch = [file];
    ({ bytes } = file);
  }
  if (batch !== null) yield batch;
}

/** The content of each file as it was listed: it is there still, or kept elsewhere; `null` if it is nowhere any more. */
async function contentsIn(held: HeldHome, files: Batch): Promise<(Uint8Array | null)[]> {
  const found: (Uint8Array | null)[] = [];
  for (const { scope, path, sha256 } of files) {
    const read = await held.bytesOf(scope, path).catch(ifUnsafe);
    const isSame = !(read instanceof ToolError) && digestOf(read) === sha256;
    found.push(isSame ? read : null);
  }
  const changed = files.flatMap(({ sha256 }, at) => (found[at] === null ? [sha256] : []));
  if (changed.length === 0) return found;
  const kept = await held.history.contentsOf(changed).catch(ifUnsafe);
  // A history that cannot be used keeps nothing.
  if (kept instanceof ToolError) return found;
  for (const [at, { sha256 }] of files.entries()) found[at] ??= await keptContent(held, sha256, kept);
  return found;
}
