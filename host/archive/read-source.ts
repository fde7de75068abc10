/**
 * Reads what a person wants to have in a memory: an export, as a zip file, a folder or JSON, or what another program keeps,
 * whose texts nobody reads here.
 */
import { readdir } from "node:fs/promises";

import { encodedName } from "../../shared/encoded-name.ts";
import { originClasses } from "../../shared/origin.ts";
import { quoted } from "../../shared/text.ts";
import * as z from "../../shared/zod.ts";
import { isFolder, readBoundedFile } from "../disk/bounded-file.ts";
import { failureOfDisk } from "../disk/disk-failure.ts";
import type { ForeignFile, MemoryFile } from "../values/memory-file.ts";
import { ToolError } from "../values/tool-error.ts";
import { labelName } from "./about-entries.ts";
import { readArchive } from "./archive-file.ts";
import { filesIn, ofDesktop, readZip } from "./read-zip.ts";
import { transferLimits } from "./transfer-limits.ts";
import { jsonStart } from "./write-json.ts";

export type Source =
  | { readonly kind: "export"; readonly files: readonly MemoryFile[] }
  | { readonly kind: "foreign"; readonly files: readonly ForeignFile[] };

/** Throws `INPUT_INVALID` if it is missing, too large, or a damaged export. */
export async function readSource(place: string): Promise<Source> {
  if (await isFolder(place)) return await readFolder(place);
  const bytes = await readArchive(place);
  if (/\.zip$/i.test(place) || bytes.toString("latin1", 0, 2) === "PK")
    return { kind: "export", files: await readZip(bytes) };
  if (bytes.toString("latin1", 0, jsonStart.length) === jsonStart) return { kind: "export", files: filesOfJson(bytes) };
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
  const contents = new Map<string, Buffer>();
  let bytes = 0;
  for (const { path, read } of files) {
    if (path.endsWith("/") || ofDesktop.test(path)) continue;
    const names = path.split("/").map(encodedName);
    if (names.includes(null)) throw unfit(`its file ${quoted(path, 100)} has a name that no path can have`);
    const content = await read();
    bytes += content.length;
    if (bytes > transferLimits.zipBytesMax) throw unfit(`its files have over ${transferLimits.zipBytesMax} bytes`);
    contents.set(names.join("/"), Buffer.from(content));
  }
  return { kind: "export", files: filesIn(contents) };
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
    const read = await readBoundedFile(file, transferLimits.zipBytesMax);
    if (read.kind === "bytes") return read.bytes;
    throw unfit(read.reason);
  } catch (error) {
    throw failureOfDisk(error, "read a file");
  }
}

const fileOfJson = z.object({
  scope: z.string(),
  path: z.string(),
  text: z.optional(z.string()),
  base64: z.optional(z.string()),
  trust: z.optional(z.enum(originClasses)),
});
const exportOfJson = z.object({ memcell: z.literal(1), files: z.array(fileOfJson) });

function filesOfJson(bytes: Buffer): MemoryFile[] {
  try {
    const read = z.safeParse(exportOfJson, JSON.parse(bytes.toString("utf8")));
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
