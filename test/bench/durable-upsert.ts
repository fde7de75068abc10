import { loopDisk } from "../support/loop-disk.ts";
/**
 * How long a durable upsert takes through the whole stack, against the way of a program that has no sandbox and no
 * journal: two files, each written beside its place, flushed and renamed, then a flush of the folder. The store alone is
 * measured as well, to tell what the commit takes of it.
 *
 *     npm run build && node dist/test/bench/durable-upsert.js
 *
 * All ways take turns on the same disk, so that whatever else the machine does meets each of them alike: compare within
 * one run, never between two.
 */
import { temporaryFolder } from "../support/temporary-folder.ts";
import { measureDisk } from "./measure-disk.ts";

const mib = 2 ** 20;

{
  using folder = temporaryFolder();
  await measureDisk("this machine's own disk", folder.path);
}
const disk = await loopDisk("ext4", { bytes: 256 * mib });
if (typeof disk === "string") {
  console.log(`No ext4 disk of its own: ${disk}`);
} else {
  using mounted = disk;
  await measureDisk("an ext4 disk on a loop device in main memory", mounted.path);
}
