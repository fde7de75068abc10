/**
 * Reads what a person wants to have in a memory: an export, as a zip file, a folder or JSON, or what another program keeps,
 * whose texts nobody reads here.
 */
import { readdir } from "node:fs/promises";

import { encodedName } from "../../shared/encoded-name.ts";
import { originClasses } from "../../shared/origin.ts";
import { scopeName } from "../../shared/path.ts";
import { parseStrictJson } from "../../shared/strict-json.ts";
import * as z from "../../shared/zod.ts";
import { isFolder, readBoundedFile } from "../disk/bounded-file.ts";
import { failureOfDisk, isMissing } from "../disk/disk-failure.ts";
import type { ForeignFile, MemoryFile } from "../values/memory-file.ts";
import { reasonOf, ToolError } from "../values/tool-error.ts";
import { labelName } from "./about-entries.ts";
import { readArchive } from "./archive-file.ts";
import { filesIn, isAbout, ofDesktop, readZip } from "./read-zip.ts";
import { transferLimits } from "./transfer-limits.ts";

export type Source =
  | { readonly kind: "export"; readonly files: readonly MemoryFile[]; readonly leftOut: readonly LeftPath[] }
  | { readonly kind: "foreign"; readonly files: readonly ForeignFile[] };

/** What is in a folder and is no file of an export, with the reason, as a clause about it. */
interface LeftPath {
  readonly path: string;
  readonly reason: string;
}

/** Throws `INPUT_INVALID` if it is missing, too large, or a damaged export. */
export async function readSource(place: string): Promise<Source> {
  if (await isFolder(place)) return await readFolder(place);
  const bytes = await readArchive(place);
  if (bytes.length === 0) throw unfit("the file is empty");
  const start = bytes.toString("utf8", 0, 64);
  if (/\.zip$/i.test(place) || ["PK\x03\x04", "PK\x05\x06"].includes(start.slice(0, 4)))
    return { kind: "export", leftOut: [], files: await readZip(bytes) };
  if (/^\ufeff?\s*\{\s*"memcell"\s*:/.test(start)) return { kind: "export", leftOut: [], files: filesOfJson(bytes) };
  return { kind: "foreign", files: [{ path: place.slice(place.lastIndexOf("/") + 1), read: async () => bytes }] };
}

async function readFolder(folder: string): Promise<Source> {
  const files: ForeignFile[] = [];
  for await (const file of filesBelow(folder, "")) {
    files.push(file);
    if (files.length > transferLimits.filesMax) {
      throw new ToolError("QUOTA_EXCEEDED", `Cannot read the folder: it has over ${transferLimits.filesMax} files`);
    }
  }
  if (files.length === 0) throw new ToolError("INPUT_INVALID", "Cannot read the folder: it has no files");
  if (!files.some(({ path }) => path === labelName)) return { kind: "foreign", files };
  return await exportIn(files);
}

/** A person, or another program, can have put more beside the files. */
async function exportIn(files: readonly ForeignFile[]): Promise<Source> {
  const contents = new Map<string, Buffer>();
  const leftOut: LeftPath[] = [];
  let bytes = 0;
  for (const { path, read } of files) {
    if (ofDesktop.test(path)) continue;
    try {
      const place = placeOf(path);
      const content = await read();
      bytes += content.length;
      contents.set(place, Buffer.from(content));
    } catch (error) {
      if (!(error instanceof ToolError)) throw error;
      leftOut.push({ path, reason: reasonOf(error) });
    }
    if (bytes > transferLimits.wholeBytesMax) throw unfit(`its files have over ${transferLimits.wholeBytesMax} bytes`);
  }
  return { kind: "export", leftOut, files: filesIn(contents) };
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

/** In the order of their names. A hidden folder is named, and nothing in it is looked at. */
async function* filesBelow(folder: string, below: string): AsyncGenerator<ForeignFile> {
  for (const found of await listed(`${folder}/${below}`)) {
    const path = below + found.name;
    if (found.isDirectory() && !found.name.startsWith(".")) yield* filesBelow(folder, `${path}/`);
    else if (found.isDirectory()) yield { path: `${path}/`, read: async () => Buffer.alloc(0) };
    else yield { path, read: () => readFile(`${folder}/${path}`, found) };
  }
}

async function listed(folder: string) {
  const found = await readdir(folder, { withFileTypes: true }).catch((error: unknown) => {
    throw failureOfDisk(error, "read the folder");
  });
  return found.toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

/** Nothing of a link: it can lead out of the folder. */
async function readFile(file: string, found: { isFile(): boolean }): Promise<Uint8Array> {
  if (!found.isFile()) throw unfit("it is a link or no regular file");
  try {
    const read = await readBoundedFile(file, transferLimits.wholeBytesMax);
    if (read.kind === "bytes") return read.bytes;
    throw unfit(read.reason);
  } catch (error) {
    // Node shows a name that is no UTF-8 with U+FFFD, and nothing has that name.
    if (isMissing(error) && file.includes("\ufffd")) throw unfit("its name is not UTF-8");
    throw failureOfDisk(error, "read a file");
  }
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

const unfit = (reason: string): ToolError => new ToolError("INPUT_INVALID", `Cannot read the import: ${reason}`);
