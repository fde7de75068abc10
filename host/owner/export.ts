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
import type { MemoryFile } from "../values/memory-file.ts";
import { reasonOf, ToolError } from "../values/tool-error.ts";
import { inTurns, sorted } from "../values/turns.ts";
import { defineOperation } from "./define-operation.ts";
import { aFunction, listOf, optional, passed, text } from "./field.ts";
import type { ExportOptions, LeftOutFile, MemoryExport, OnProgress } from "./memory-files.ts";
import { ifUnsafe } from "./operate.ts";
import type { Operation } from "./operation.ts";
import { checkTransfer } from "./transfer-bounds.ts";
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
  run: exportUser,
});

async function exportUser(
  operation: Operation,
  { scopes, onProgress = () => {} }: ExportOptions,
): Promise<MemoryExport> {
  const sum = new ExportSum(onProgress);
  const known = operation.tools.all.flatMap(ownScopesOf);
  const parts = await eachPart(operation, { mode: "read", only: scopes }, (part) => {
    known.push(...part.scopes);
    const asked = part.scopes.filter((scope) => scopes?.includes(scope) ?? true);
    return exportPart({ ...part, scopes: asked }, sum, scopes === undefined);
  });
  checkScopes("export", scopes, known);
  return await together(parts);
}

export async function together(parts: readonly MemoryExport[]): Promise<MemoryExport> {
  const [files, leftOut] = [parts.flatMap((part) => part.files), parts.flatMap((part) => part.leftOut)];
  return { files: await inTurns(sorted(files, byPlace)), leftOut: await inTurns(sorted(leftOut, byPlace)) };
}

/** `isWhole`: also names what is in none of the user's scopes. */
export async function exportPart(
  { held, scopes, hidden }: HeldPart,
  sum: ExportSum,
  isWhole: boolean,
): Promise<MemoryExport> {
  const withTrust = exportedTrust(held.history);
  const files: MemoryFile[] = [];
  const leftOut: LeftOutFile[] = [];
  const listed: Place[] = [];
  if (isWhole) {
    for (const { path, reason } of await held.beside()) leftOut.push({ scope: path, path: "", reason });
    for (const scope of hidden) leftOut.push({ scope, path: "", reason: "another folder stands for this scope" });
  }
  for (const scope of scopes) {
    const survey = await held.survey(scope);
    for (const each of survey.unfit) leftOut.push({ scope, ...each });
    for (const { path } of survey.files) listed.push({ scope, path });
    sum.expect(survey.files);
  }
  for (const { scope, path } of listed) {
    const content = await contentOf(held, { scope, path });
    if (typeof content === "string") leftOut.push({ scope, path, reason: content });
    else files.push(await withTrust({ scope, path, content }));
    sum.read(content.length);
  }
  return { files, leftOut };
}

/** A file's bytes, or why it cannot be read. */
async function contentOf(held: HeldHome, { scope, path }: Place): Promise<Uint8Array | string> {
  const read = await held.bytesOf(scope, path).catch(ifUnsafe);
  return read instanceof ToolError ? reasonOf(read) : (read ?? "it disappeared during the export");
}

/** How much of the export has been read, and how much is expected. */
export class ExportSum {
  readonly #onProgress: OnProgress;
  #scopes = 0;
  readonly #expected = { files: 0, bytes: 0 };
  readonly #read = { files: 0, bytes: 0 };

  constructor(onProgress: OnProgress = () => {}) {
    this.#onProgress = onProgress;
  }

  /** Adds the files of one scope. */
  expect(files: readonly { readonly bytes: number }[]): void {
    this.#scopes++;
    this.#expected.files += files.length;
    for (const { bytes } of files) this.#expected.bytes += bytes;
    checkTransfer("export", this.#expected, this.#scopes);
  }

  /** Adds a file that was read. It can have grown since it was measured: people edit without a lock. */
  read(bytes: number): void {
    this.#read.bytes += bytes;
    this.#read.files++;
    checkTransfer("export", this.#read, this.#scopes);
    this.#onProgress(this.#read.files, this.#expected.files);
  }
}

const byPlace = (a: Place, b: Place): number => compare(a.scope, b.scope) || compare(a.path, b.path);
const compare = (a: string, b: string): number => (a < b ? -1 : Number(a > b));

type File = Omit<MemoryFile, "trust">;

/** Says of exported files how far they are trusted, if that is less than what nobody has told. */
function exportedTrust(history: HeldHistory): (file: File) => Promise<MemoryFile> {
  const origins = new ContentOrigins(history);
  /** The lowest trust of versions with a content. */
  let ofContents: Promise<ReadonlyMap<string, OriginClass>> | null = null;
  const trustOf = async ({ scope, path, content }: File): Promise<OriginClass> => {
    const digest = digestOf(content) ?? "";
    const { trust } = await origins.of(scope, path, digest);
    if ((await history.originOf(scope, path))?.sha256 === digest) return trust;
    // Somebody has put it there by hand, perhaps from an earlier version.
    ofContents ??= history.versions().then((all) => lowestByContent(all.flatMap(({ files }) => files)));
    return lowestOf(trust, (await ofContents).get(digest) ?? trust);
  };
  return async (file) => {
    const known = await trustOf(file).catch(ifUnsafe);
    // Of a file whose history cannot be used, nobody can say where it comes from. Its owner gets it all the same.
    const trust = known instanceof ToolError ? "untrusted_document" : known;
    return isAtLeast(trust, "unstated") ? file : { ...file, trust };
  };
}
