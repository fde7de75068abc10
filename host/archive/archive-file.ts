/** Writes an export to the disk: outside the data folder, where the owner of the data wants it. */
import { randomBytes } from "node:crypto";
import { constants, link, mkdir, open, rename, rm, unlink, writeFile } from "node:fs/promises";

import { isNameTaken } from "../disk/bounded-file.ts";
import { failureOfDisk, isMissing, systemCode } from "../disk/disk-failure.ts";
import type { Place } from "../values/change-set.ts";
import { ToolError } from "../values/tool-error.ts";
import { entriesOf, nameInExport } from "./about-entries.ts";
import type { WrittenExport } from "./about-entries.ts";

const anew = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;

/** The place of a zip file, to be checked and then written. */
export { withoutSteps as archivePlace } from "../disk/leads-into.ts";

/** Throws `NAME_CONFLICT` if anything has the name, even a link that leads nowhere. */
export async function refuseTaken(file: string): Promise<void> {
  if (await isNameTaken(file)) throw taken();
}

/**
 * Writes a file that only its owner can use. It gets its name when it is whole and on the disk, and never replaces
 * anything. Throws `NAME_CONFLICT`, `STORAGE_FULL`, `STORAGE_BUSY`, `STORAGE_FAILED`, and the reason of `signal`.
 * A process that is killed leaves a file that ends in `.partial`.
 */
export async function writeArchive(
  file: string,
  pieces: AsyncIterable<Uint8Array>,
  signal?: AbortSignal,
): Promise<void> {
  const partial = `${file}.${randomBytes(6).toString("hex")}.partial`;
  try {
    await refuseTaken(file);
    await writeWhole(partial, pieces, signal);
    // A hard link replaces nothing, and a rename would.
    await link(partial, file).catch(() => takeOver(partial, file));
  } catch (error) {
    if (systemCode(error) === "EEXIST") throw taken();
    if (isMissing(error)) throw new ToolError("STORAGE_FAILED", "Cannot write the export: its folder is not there");
    throw failureOfDisk(error, "write the export");
  } finally {
    await unlink(partial).catch(() => {});
  }
}

async function writeWhole(file: string, pieces: AsyncIterable<Uint8Array>, signal?: AbortSignal): Promise<void> {
  await using handle = await open(file, anew, 0o600);
  for await (const piece of pieces) {
    signal?.throwIfAborted();
    await handle.writeFile(piece);
  }
  await handle.sync();
}

/**
 * The same for a folder, whose files are those that a zip file would have. Returns those with names that the disk cannot hold, as
 * memory sticks cannot hold `a?.md`. A process that is killed leaves a folder that ends in `.partial`.
 */
export async function writeFolder(folder: string, exported: WrittenExport, signal?: AbortSignal): Promise<Place[]> {
  const place = folder.replace(/\/+$/, "");
  const partial = `${place}.${randomBytes(6).toString("hex")}.partial`;
  try {
    await refuseTaken(place);
    await mkdir(partial, { mode: 0o700 });
    const unfit = new Set<string>();
    const { files } = exported;
    for await (const [name, content] of entriesOf(exported)) {
      signal?.throwIfAborted();
      await writeBelow(`${partial}/${name}`, content).catch((error: unknown) => {
        // What is told of the files is never left out: they would be trusted more.
        if (!name.includes("/") || !unfitName.has(systemCode(error) ?? "")) throw error;
        unfit.add(name);
      });
    }
    if (unfit.size === files.length && files.length > 0)
      throw new ToolError("STORAGE_FAILED", "Cannot write the export: the disk cannot hold the name of any file");
    await rename(partial, place);
    return files.filter((file) => unfit.has(nameInExport(file)));
  } catch (error) {
    if (isMissing(error)) throw new ToolError("STORAGE_FAILED", "Cannot write the export: its folder is not there");
    throw failureOfDisk(error, "write the export");
  } finally {
    await rm(partial, { recursive: true, force: true });
  }
}

async function writeBelow(file: string, content: Uint8Array): Promise<void> {
  await mkdir(file.replace(/\/[^/]*$/, ""), { recursive: true, mode: 0o700 });
  await writeFile(file, content, { flag: "wx", mode: 0o600, flush: true });
}

/** What disks say of a new file or folder whose name they cannot hold. If the whole folder has gone, its last name fails. */
const unfitName: ReadonlySet<string> = new Set(["EINVAL", "ENAMETOOLONG", "EILSEQ", "ENOENT"]);

/** For disks without hard links, such as memory sticks: takes the name with an empty file, then replaces that file. */
async function takeOver(partial: string, file: string): Promise<void> {
  await (await open(file, anew, 0o600)).close();
  await rename(partial, file).catch(async (error: unknown) => {
    await unlink(file);
    throw error;
  });
}

const taken = (): ToolError =>
  new ToolError("NAME_CONFLICT", "Cannot write the export: something has its name already, which is not replaced");
