/** The ways of making a backup of a data folder that the documents call right, each with how to restore it. */
import { mkdirSync } from "node:fs";
import { join, relative } from "node:path";

import { program } from "../../stage/serve-lines.ts";
import { mountByLoop } from "../../support/loop-device.ts";
import type { LoopDisk } from "../../support/loop-disk.ts";
import { runCommand } from "../../support/run-command.ts";
import { createRuntime } from "../host-under-test.ts";

export interface BackupWay {
  readonly name: string;
  /** All of a user's files are of one moment, also while calls change them. */
  readonly isOfOneMoment: boolean;
  /** It skips files that are replaced while it copies them, so the programs must be stopped first. */
  readonly isForStopped?: boolean;
  /** Programs that it needs, each with its Debian package. */
  readonly needs?: Readonly<Record<string, string>>;
  /** Returns the function that restores the backup: into a new folder, and returns where the data folder is then. */
  readonly take: (source: Source) => Promise<(restored: string) => Promise<string>>;
}

export interface Source {
  /** The disk that holds the data folder. */
  readonly disk: LoopDisk;
  readonly dataDir: string;
  readonly users: readonly string[];
  /** An empty folder for the backup. */
  readonly backup: string;
}

const memcell = `"${process.execPath}" "${program}"`;

/** By programs, from `$1` to `$2`. */
const byPrograms = (copy: string, restore: string): BackupWay["take"] => {
  return async ({ dataDir, backup }) => {
    const made = join(backup, "made");
    await runCommand("sh", ["-c", copy, "sh", dataDir, made]);
    return async (restored) => {
      mkdirSync(restored);
      await runCommand("sh", ["-c", restore, "sh", made, restored]);
      return restored;
    };
  };
};

export const ways: readonly BackupWay[] = [
  {
    name: "memcell export",
    isOfOneMoment: true,
    take: async ({ dataDir, users }) => {
      const exported = await withRuntime(dataDir, async (runtime) => {
        const exports = users.map(async (userId) => ({ userId, ...(await runtime.upkeep.export({ userId })) }));
        return await Promise.all(exports);
      });
      return (restored) =>
        withRuntime(restored, async (runtime) => {
          for (const { userId, files } of exported) await runtime.upkeep.import({ userId }, files);
          return restored;
        });
    },
  },
  {
    name: "memcell copy",
    isOfOneMoment: true,
    // 1: homes have changed since they were copied.
    take: byPrograms(`${memcell} copy --from "$1" --to "$2" || [ $? -eq 1 ]`, `${memcell} copy --from "$1" --to "$2"`),
  },
  {
    name: "a snapshot of the disk",
    isOfOneMoment: true,
    take: async ({ disk, dataDir, backup }) => {
      const image = join(backup, "disk.img");
      await runCommand("fsfreeze", ["--freeze", dataDir]);
      try {
        await runCommand("cp", ["--sparse=always", disk.image, image]);
      } finally {
        await runCommand("fsfreeze", ["--unfreeze", dataDir]);
      }
      return async (restored) => {
        mkdirSync(restored);
        await mountByLoop(image, (device) => runCommand("mount", [device, restored]));
        return join(restored, relative(disk.path, dataDir));
      };
    },
  },
  {
    name: "cp -a, after a kill of all programs",
    isOfOneMoment: true,
    isForStopped: true,
    take: byPrograms('cp -a "$1" "$2"', 'cp -a "$1/." "$2"'),
  },
  {
    name: "rsync -a",
    isOfOneMoment: false,
    needs: { rsync: "rsync" },
    // 24: files have vanished before they were copied.
    take: byPrograms('rsync -a "$1/" "$2/" || [ $? -eq 24 ]', 'rsync -a "$1/" "$2/"'),
  },
  {
    name: "tar",
    isOfOneMoment: false,
    // 1: files have changed while they were read.
    take: byPrograms('tar -C "$1" -cf "$2" . || [ $? -eq 1 ]', 'tar -C "$2" -xf "$1"'),
  },
];

type Runtime = Awaited<ReturnType<typeof createRuntime>>;

async function withRuntime<Result>(dataDir: string, work: (runtime: Runtime) => Promise<Result>): Promise<Result> {
  await using runtime = await createRuntime({ dataDir, threadsMax: 1 });
  return await work(runtime);
}
