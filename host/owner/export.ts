/**
 * Reads a user's scopes, each while it is held, so that a scope's files are from one moment. No plugin is asked, so
 * none can hide files from their owner.
 */
import { isAtLeast, lowestOf } from "../../shared/origin.ts";
import type { OriginClass } from "../../shared/origin.ts";
import type * as z from "../../shared/zod.ts";
import { ownScopesOf } from "../plugins/tools.ts";
import type { HeldHome } from "../store/held-homes.ts";
import { digestOf } from "../store/reading.ts";
import { ContentOrigins, lowestByContent } from "../store/versions/present-origins.ts";
import type { HeldHistory } from "../store/versions/present-origins.ts";
import type { Place } from "../values/change-set.ts";
import type { ExportedFile, MemoryFile } from "../values/memory-file.ts";
import { reasonOf, ToolError } from "../values/tool-error.ts";
import { inTurns, sorted } from "../values/turns.ts";
import { defineOperation } from "./define-operation.ts";
import type { Action } from "./define-operation.ts";
import { openedExport } from "./exported-contents.ts";
import { aFunction, listOf, optional, passed, text } from "./field.ts";
import type { ExportOptions, LeftOutFile, MemoryExport, OnProgress, OpenExport } from "./memory-files.ts";
import { ifUnsafe } from "./operate.ts";
import type { Operation } from "./operation.ts";
import { checkScopes, eachPart } from "./user-scopes.ts";
import type { HeldPart } from "./user-scopes.ts";

/** The command of this name writes files: it is no command of one operation, as that of an import. */
export const exportMemory = defineOperation({
  name: "export",
  action: "export a user's memory",
  changes: false,
  fields: {
    scopes: listOf(text("NAME", "a scope to export (default: all scopes of the user)")),
    onProgress: optional(passed(aFunction as unknown as z.ZodMiniType<OnProgress>, "a function")),
  },
  run: (operation: Operation, { scopes, onProgress }: ExportOptions): Promise<MemoryExport> =>
    survey(operation, scopes, { keep: ({ sha256: _hash, ...file }) => file, progress: new Progress(onProgress) }),
});

/** The same, with the contents later. To the owner it is one operation. */
export const openExport: Action<ExportOptions, OpenExport> = {
  name: exportMemory.name,
  action: exportMemory.action,
  changes: exportMemory.changes,
  async run(operation, { scopes, onProgress }) {
    const hold = <Result>(scope: string, work: (held: HeldHome) => Promise<Result>): Promise<Result> =>
      operation.afterwards(() => operation.hold("read", [scope], work));
    return openedExport(await survey(operation, scopes, { keep: withoutContent }), { hold, onProgress });
  },
};

async function survey<Kept extends Place>(
  operation: Operation,
  scopes: readonly string[] | undefined,
  how: Reading<Kept>,
): Promise<Survey<Kept>> {
  const known = operation.tools.all.flatMap(ownScopesOf);
  const parts = await eachPart(operation, { mode: "read", only: scopes }, (part) => {
    known.push(...part.scopes);
    const asked = part.scopes.filter((scope) => scopes?.includes(scope) ?? true);
    return surveyPart({ ...part, scopes: asked }, how, scopes === undefined);
  });
  checkScopes("export", scopes, known);
  return await together(parts);
}

/** What there is, as far as it is kept. */
export interface Survey<Kept extends Place> {
  readonly files: readonly Kept[];
  readonly leftOut: readonly LeftOutFile[];
}

interface Reading<Kept extends Place> {
  /** What is kept of a file that was read. */
  readonly keep: (file: MemoryFile & Pick<ExportedFile, "sha256">) => Kept;
  readonly progress?: Progress;
}

export const withoutContent: Reading<ExportedFile>["keep"] = ({ content, ...file }) => ({
  ...file,
  bytes: content.length,
});

export async function together<Kept extends Place>(parts: readonly Survey<Kept>[]): Promise<Survey<Kept>> {
  const [files, leftOut] = [parts.flatMap((part) => part.files), parts.flatMap((part) => part.leftOut)];
  return { files: await inTurns(sorted(files, byPlace)), leftOut: await inTurns(sorted(leftOut, byPlace)) };
}

/** `isWhole`: also names what is in none of the user's scopes. */
export async function surveyPart<Kept extends Place>(
  { held, scopes, hidden }: HeldPart,
  { keep, progress }: Reading<Kept>,
  isWhole: boolean,
): Promise<Survey<Kept>> {
  const trustOf = exportedTrust(held.history);
  const files: Kept[] = [];
  const leftOut: LeftOutFile[] = [];
  const listed: Place[] = [];
  if (isWhole) {
    for (const { path, reason } of await held.beside()) leftOut.push({ scope: path, path: "", reason });
    for (const scope of hidden) leftOut.push({ scope, path: "", reason: "another folder stands for this scope" });
  }
  for (const scope of scopes) {
    const found = await held.survey(scope);
    for (const each of found.unfit) leftOut.push({ scope, ...each });
    for (const { path } of found.files) listed.push({ scope, path });
  }
  progress?.expect(listed.length);
  for (const place of listed) {
    const content = await contentOf(held, place);
    progress?.read();
    if (typeof content === "string") {
      leftOut.push({ ...place, reason: content });
      continue;
    }
    const sha256 = digestOf(content) ?? "";
    files.push(keep({ ...place, content, sha256, ...(await trustOf(place, sha256)) }));
  }
  return { files, leftOut };
}

/** A file's bytes, or why it cannot be read. */
async function contentOf(held: HeldHome, { scope, path }: Place): Promise<Uint8Array | string> {
  const read = await held.bytesOf(scope, path).catch(ifUnsafe);
  return read instanceof ToolError ? reasonOf(read) : (read ?? "it disappeared during the export");
}

/** How many files were read, of those that were found so far. */
class Progress {
  readonly #onProgress: OnProgress;
  #found = 0;
  #read = 0;

  constructor(onProgress: OnProgress = () => {}) {
    this.#onProgress = onProgress;
  }

  expect(files: number): void {
    this.#found += files;
  }

  read(): void {
    this.#onProgress(++this.#read, this.#found);
  }
}

const byPlace = (a: Place, b: Place): number => compare(a.scope, b.scope) || compare(a.path, b.path);
const compare = (a: string, b: string): number => (a < b ? -1 : Number(a > b));

/** Says how far exported files are trusted, if that is less than what nobody has told. */
function exportedTrust(history: HeldHistory): (place: Place, sha256: string) => Promise<Pick<MemoryFile, "trust">> {
  const origins = new ContentOrigins(history);
  /** The lowest trust of versions with a content. */
  let ofContents: Promise<ReadonlyMap<string, OriginClass>> | null = null;
  const trustOf = async ({ scope, path }: Place, sha256: string): Promise<OriginClass> => {
    const { trust } = await origins.of(scope, path, sha256);
    if ((await history.originOf(scope, path))?.sha256 === sha256) return trust;
    // Somebody has put it there by hand, perhaps from an earlier version.
    ofContents ??= history.versions().then((all) => lowestByContent(all.flatMap(({ files }) => files)));
    return lowestOf(trust, (await ofContents).get(sha256) ?? trust);
  };
  return async (place, sha256) => {
    const known = await trustOf(place, sha256).catch(ifUnsafe);
    // Of a file whose history cannot be used, nobody can say where it comes from. Its owner gets it all the same.
    const trust = known instanceof ToolError ? "untrusted_document" : known;
    return isAtLeast(trust, "unstated") ? {} : { trust };
  };
}
