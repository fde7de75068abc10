/**
 * Reads what a person wants to have in a memory: an export, as a zip file, a folder or JSON, or what another program keeps,
 * whose texts nobody reads here.
 */
import { constants, readdir } from "node:fs/promises";

import { encodedName } from "../../shared/encoded-name.ts";
import { originClasses } from "../../shared/origin.ts";
import { scopeName } from "../../shared/path.ts";
import { parseStrictJson } from "../../shared/strict-json.ts";
import * as z from "../../shared/zod.ts";
import { OpenFile, isFolder, isNameTaken, readBoundedFile } from "../disk/bounded-file.ts";
import { failureOfDisk, isMissing, notRegular } from "../disk/disk-failure.ts";
import type { ForeignFile, ImportedFile, MemoryFile } from "../values/memory-file.ts";
import { reasonOf, ToolError } from "../values/tool-error.ts";
import { labelName } from "./about-entries.ts";
import { filesIn, isAbout, ofDesktop, readZip } from "./read-zip.ts";
import type { UnreadEntry } from "./read-zip.ts";
import { transferLimits } from "./transfer-limits.ts";

export type Source =
  | { readonly kind: "export"; readonly files: readonly ImportedFile[]; readonly leftOut: readonly LeftPath[] }
  | { readonly kind: "foreign"; readonly files: readonly ForeignFile[] };

/** What is in a folder and is no file of an export, with the reason, as a clause about it. */
interface LeftPath {
  readonly path: string;
  readonly reason: string;
}

/** Its files are read until it is disposed of. Throws `INPUT_INVALID` if it is missing, too large, or a damaged export. */
export async function openSource(place: string): Promise<Source & AsyncDisposable> {
  if (await isFolder(place)) return Object.assign(await readFolder(place), { [Symbol.asyncDispose]: async () => {} });
  const file = await OpenFile.open(place).catch((error: unknown) => {
    if (isMissing(error)) throw unfitFile("it is not there");
    throw failureOfDisk(error, "read the file");
  });
  try {
    return Object.assign(await sourceIn(file, place), { [Symbol.asyncDispose]: () => file.close() });
  } catch (error) {
    await file.close();
    throw failureOfDisk(error, "read the file");
  }
}

async function sourceIn(file: OpenFile, place: string): Promise<Source> {
  if (!file.isRegular) throw unfitFile(notRegular);
  if (file.bytes === 0) throw unfit("the file is empty");
  const start = (await file.read(0, 64)).toString();
  if (/\.zip$/i.test(place) || ["PK\x03\x04", "PK\x05\x06"].includes(start.slice(0, 4)))
    return { kind: "export", leftOut: [], files: await readZip(file) };
  const isJson = /^\ufeff?\s*\{\s*"memcell"\s*:/.test(start);
  const { wholeBytesMax } = transferLimits;
  if (file.bytes > wholeBytesMax) {
    const remedy = isJson ? " for JSON; export it as a zip file or a folder" : "";
    throw unfitFile(`it is ${file.bytes} bytes, at most ${wholeBytesMax} allowed${remedy}`);
  }
  const read = (): Promise<Buffer> => file.read(0, file.bytes);
  if (isJson) return { kind: "export", leftOut: [], files: filesOfJson(await read()) };
  return { kind: "foreign", files: [{ path: place.slice(place.lastIndexOf("/") + 1), read }] };
}

async function readFolder(folder: string): Promise<Source> {
  const isExport = await isNameTaken(`${folder}/${labelName}`);
  const files: FoundFile[] = [];
  for await (const file of filesBelow(folder, "")) {
    files.push(file);
    if (!isExport && files.length > transferLimits.foreignFilesMax) {
      const reason = `it has over ${transferLimits.foreignFilesMax} files`;
      throw new ToolError("QUOTA_EXCEEDED", `Cannot read the folder: ${reason}`);
    }
  }
  if (files.length === 0) throw new ToolError("INPUT_INVALID", "Cannot read the folder: it has no files");
  return isExport ? await exportIn(files) : { kind: "foreign", files };
}

/** A person, or another program, can have put more beside the files. */
async function exportIn(files: readonly FoundFile[]): Promise<Source> {
  const found = new Map<string, UnreadEntry>();
  const leftOut: LeftPath[] = [];
  for (const { path, measure, read } of files) {
    if (ofDesktop.test(path)) continue;
    try {
      const place = placeOf(path);
      found.set(place, { bytes: await measure(), read });
    } catch (error) {
      if (!(error instanceof ToolError)) throw error;
      leftOut.push({ path, reason: reasonOf(error) });
    }
  }
  return { kind: "export", leftOut, files: await filesIn(found) };
}

/** Where a file of a folder belongs, as in a zip file. */
function placeOf(path: string): string {
  const names = path.split("/").map(encodedName);
  const [scope = ""] = names;
  if (names.length === 1 && isAbout(path)) return path;
  if (path.endsWith("/") || path.startsWith(".")) throw unfit("it is hidden");
  if (names.includes(null)) throw unfit("it has a name that no path can have");
  if (names.length === 1 || !scopeName.test(scope ?? "")) throw unfit("it is in no folder of a scope");
  return names.join("/");
}

interface FoundFile extends ForeignFile {
  readonly measure: () => Promise<number>;
}

/** In the order of their names. A hidden folder is named, and nothing in it is looked at. */
async function* filesBelow(folder: string, below: string): AsyncGenerator<FoundFile> {
  for (const found of await listed(`${folder}/${below}`)) {
    const path = below + found.name;
    if (found.isDirectory() && !found.name.startsWith(".")) yield* filesBelow(folder, `${path}/`);
    else if (found.isDirectory()) yield { path: `${path}/`, measure: async () => 0, read: async () => Buffer.alloc(0) };
    else yield fileIn(`${folder}/${path}`, path, found.isFile());
  }
}

async function listed(folder: string) {
  const found = await readdir(folder, { withFileTypes: true }).catch((error: unknown) => {
    throw failureOfDisk(error, "read the folder");
  });
  return found.toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

/** Nothing of a link: it can lead out of the folder. */
function fileIn(file: string, path: string, isFile: boolean): FoundFile {
  const told = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    if (!isFile) throw unfit("it is a link or no regular file");
    return await work().catch((error: unknown) => {
      // Node shows a name that is no UTF-8 with U+FFFD, and nothing has that name.
      if (isMissing(error) && file.includes("\ufffd")) throw unfit("its name is not UTF-8");
      throw failureOfDisk(error, "read a file");
    });
  };
  const measure = async (): Promise<number> => {
    const opened = await OpenFile.open(file, constants.O_NOFOLLOW);
    await opened.close();
    return opened.bytes;
  };
  const read = async (): Promise<Uint8Array> => {
    const found = await readBoundedFile(file, transferLimits.wholeBytesMax, constants.O_NOFOLLOW);
    if (found.kind === "bytes") return found.bytes;
    throw unfit(found.reason);
  };
  return { path, measure: () => told(measure), read: () => told(read) };
}

const fileOfJson = z
  .strictObject({
    scope: z.string().check(z.regex(scopeName)),
    path: z.string(),
    text: z.optional(z.string().check(z.refine((text) => text.isWellFormed()))),
    base64: z.optional(z.string().check(z.refine((text) => Buffer.from(text, "base64").toString("base64") === text))),
    trust: z.optional(z.enum(originClasses)),
  })
  .check(z.refine(({ text, base64 }) => (text === undefined) !== (base64 === undefined)));
const exportOfJson = z.strictObject({ memcell: z.literal(1), files: z.array(fileOfJson) });

function filesOfJson(bytes: Buffer): MemoryFile[] {
  try {
    const read = z.safeParse(
      exportOfJson,
      parseStrictJson(bytes.toString("utf8").replace(/^\ufeff/, ""), transferLimits.aboutDepthMax),
    );
    if (read.success)
      return read.data.files.map(({ scope, path, trust, text = "", base64 }) => {
        const content = base64 === undefined ? Buffer.from(text) : Buffer.from(base64, "base64");
        return { scope, path, content, trust };
      });
  } catch {
    // Not even JSON.
  }
  throw unfit("it is no sound export of version 1");
}

const unfitFile = (reason: string): ToolError => new ToolError("INPUT_INVALID", `Cannot read the file: ${reason}`);

const unfit = (reason: string): ToolError => new ToolError("INPUT_INVALID", `Cannot read the import: ${reason}`);
