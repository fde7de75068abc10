/** Reads all scopes of a user, each while it is held, so that all of one is of one moment. */
import { setImmediate } from "node:timers/promises";

import { transferLimits } from "../archive/transfer-limits.ts";
import type { ScopeSurvey } from "../store/store.ts";
import type { MemoryFile } from "../values/memory-file.ts";
import { ToolError } from "../values/tool-error.ts";
import { askPathsOrTakeAll, faultOfPath } from "./fit-paths.ts";
import type { PathFacts } from "./fit-paths.ts";
import type { LeftOutFile, MemoryExport, OnProgress } from "./memory-files.ts";
import type { Operation } from "./operation.ts";
import { eachPart } from "./user-scopes.ts";
import type { HeldPart } from "./user-scopes.ts";

/** Files that are read before others may have their turn: of the usual size, some milliseconds. */
const filesAtOnce = 64;

/** By scope. */
type Facts = ReadonlyMap<string, PathFacts>;

export async function exportUser(operation: Operation, onProgress: OnProgress = () => {}): Promise<MemoryExport> {
  const facts = await askAll(operation);
  const sum = new ExportSum(onProgress);
  const parts = await eachPart(operation, { writes: false }, (part) => exportPart(part, facts, sum));
  return {
    files: parts.flatMap(({ files }) => files).toSorted(byPlace),
    leftOut: parts.flatMap(({ leftOut }) => leftOut).toSorted(byPlace),
  };
}

/** Before anything is read: a plugin judges names alone, and holds what it is asked about. */
async function askAll(operation: Operation): Promise<Facts> {
  const surveyed = await eachPart(operation, { writes: false }, surveyPart);
  const facts = new Map<string, PathFacts>();
  for (const [scope, { files }] of surveyed.flat()) {
    const paths = files.map(({ path }) => path);
    facts.set(scope, await askPathsOrTakeAll(operation, scope, paths));
  }
  return facts;
}

async function surveyPart({ reader, scopes }: HeldPart): Promise<[scope: string, survey: ScopeSurvey][]> {
  const found: [string, ScopeSurvey][] = [];
  for (const scope of scopes) found.push([scope, await reader.survey(scope)]);
  return found;
}

async function exportPart(part: HeldPart, facts: Facts, sum: ExportSum): Promise<MemoryExport> {
  const files: MemoryFile[] = [];
  const leftOut: LeftOutFile[] = [];
  const listed: { readonly scope: string; readonly path: string }[] = [];
  for (const [scope, survey] of await surveyPart(part)) {
    for (const each of survey.unfit) leftOut.push({ scope, ...each });
    for (const { path, bytes } of survey.files) {
      // One file of someone else's would keep the whole export out of where it is to go.
      const fault = faultOfPath(path) ?? facts.get(scope)?.unfit.get(path);
      if (fault) leftOut.push({ scope, path, reason: fault.reason });
      else {
        listed.push({ scope, path });
        sum.expect(bytes);
      }
    }
  }
  sum.check();
  for (const [at, { scope, path }] of listed.entries()) {
    if (at % filesAtOnce === 0) await setImmediate();
    const content = await part.reader.bytesOf(scope, path);
    if (content === null) leftOut.push({ scope, path, reason: "it has gone while the export was made" });
    else files.push({ scope, path, content });
    sum.read(content?.length ?? 0);
  }
  return { files, leftOut };
}

/** How much of the export is there, and is to come. */
class ExportSum {
  readonly #onProgress: OnProgress;
  #expectedBytes = 0;
  #expectedFiles = 0;
  #bytes = 0;
  #files = 0;

  constructor(onProgress: OnProgress) {
    this.#onProgress = onProgress;
  }

  expect(bytes: number): void {
    this.#expectedFiles++;
    this.#expectedBytes += bytes;
  }

  check(): void {
    refuse(this.#expectedFiles, transferLimits.filesMax, "files");
    refuse(Math.max(this.#bytes, this.#expectedBytes), transferLimits.exportBytesMax, "bytes");
  }

  /** Whoever edits by hand takes no lock: what was measured may have grown. */
  read(bytes: number): void {
    this.#bytes += bytes;
    this.#files++;
    this.check();
    this.#onProgress(this.#files, this.#expectedFiles);
  }
}

function refuse(present: number, most: number, unit: string): void {
  if (present <= most) return;
  const message = `Cannot export the memory: it holds ${present} ${unit}, at most ${most} allowed`;
  throw new ToolError("QUOTA_EXCEEDED", message);
}

interface Place {
  readonly scope: string;
  readonly path: string;
}

const byPlace = (a: Place, b: Place): number => compare(a.scope, b.scope) || compare(a.path, b.path);
const compare = (a: string, b: string): number => (a < b ? -1 : Number(a > b));
