/** The disks that a power cut can leave behind, each mounted so that the file system repairs itself first. */
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";

import { mountFolder } from "../../support/mount-folder.ts";
import { runCommand } from "../../support/run-command.ts";
import type { BlockLog, BlockRecord } from "./block-log.ts";
import { fileSystems } from "./file-systems.ts";
import type { SparseImage } from "./sparse-image.ts";
import { flushedBefore, survivingWrites } from "./surviving-writes.ts";
import type { PowerCut } from "./surviving-writes.ts";

export interface AfterCrash extends Disposable {
  /** The disk right after the cut, before any repair. */
  image(cut: PowerCut): SparseImage;
  /**
   * Mounts that disk, passes its folder to the visitor and unmounts it. Several can be mounted at once.
   *
   * @throws when the file system refuses the disk, or the visitor leaves a file open
   */
  mount<T>(cut: PowerCut, visit: (folder: string) => Promise<T>): Promise<T>;
  /** Does the same for many cuts, a few at a time. After a failure it starts no further cut. */
  mountEach(cuts: Iterable<PowerCut>, visit: (folder: string, cut: PowerCut) => Promise<void>): Promise<void>;
}

/** Mounting mostly waits for the kernel. More lanes were not faster on two processors. */
const lanesCount = 4;

/** The log may still grow. Cuts at rising positions are fastest, because flushed writes are then applied only once. */
export function afterCrash(log: BlockLog): AfterCrash {
  const folder = mountFolder();
  const { type, mountOptions } = fileSystems[log.fileSystem];
  const options = ["loop", "rw", ...mountOptions].join(",");
  let flushed = { image: log.start.copy(), position: 0 };
  let mounted = 0;

  function image(cut: PowerCut): SparseImage {
    const position = flushedBefore(log.records, cut.position);
    if (position < flushed.position) flushed = { image: log.start.copy(), position: 0 };
    apply(flushed.image, log.records.slice(flushed.position, position));
    flushed.position = position;
    const crashed = flushed.image.copy();
    apply(crashed, survivingWrites(log.records, cut));
    return crashed;
  }

  async function mount<T>(cut: PowerCut, visit: (folder: string) => Promise<T>): Promise<T> {
    const mountPoint = join(folder.path, `${++mounted}`);
    const imageFile = `${mountPoint}.img`;
    mkdirSync(mountPoint);
    try {
      image(cut).writeTo(imageFile);
      await runCommand("mount", ["-t", type, "-o", options, imageFile, mountPoint]);
    } finally {
      // The mount keeps the file open until it is unmounted.
      rmSync(imageFile, { force: true });
    }
    const visited = await visit(mountPoint).catch(async (error: unknown) => {
      // Lazy, so that the visitor's failure is reported even if the visitor left a file open.
      await runCommand("umount", ["--lazy", mountPoint]);
      throw error;
    });
    await runCommand("umount", [mountPoint]);
    return visited;
  }

  async function mountEach(
    cuts: Iterable<PowerCut>,
    visit: (folder: string, cut: PowerCut) => Promise<void>,
  ): Promise<void> {
    // A lane that fails closes the shared iterator, and so stops the other lanes.
    const shared = eachOf(cuts);
    const lane = async (): Promise<void> => {
      for (const cut of shared) await mount(cut, (mountPoint) => visit(mountPoint, cut));
    };
    const lanes = await Promise.allSettled(Array.from({ length: lanesCount }, lane));
    for (const ended of lanes) if (ended.status === "rejected") throw ended.reason;
  }

  return { image, mount, mountEach, [Symbol.dispose]: () => folder[Symbol.dispose]() };
}

function* eachOf(cuts: Iterable<PowerCut>): Generator<PowerCut> {
  yield* cuts;
}

function apply(image: SparseImage, records: readonly BlockRecord[]): void {
  for (const record of records) if (record.kind === "write") image.write(record.offset, record.data);
}
