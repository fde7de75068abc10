import { join, resolve } from "node:path";

import { leadsInto } from "../../disk/leads-into.ts";
import type { Mount } from "../../values/mount.ts";
import type { StoreDefinition } from "../store.ts";
import { checkMounts, refuseLogIn, refuseUnfitTools } from "./check-mounts.ts";
import { openFiles } from "./open-files.ts";
import { usersFolder } from "./user-folder.ts";

export interface FileStoreOptions {
  /** The folder that holds `users/`. Made on the first write. */
  readonly dir: string;
  /** Folders that each stand for one scope of one user, such as a workspace's own notes. Default: none; at most 64. */
  readonly mounts?: readonly Mount[] | undefined;
  /**
   * `full`, the default: what a successful call changed is on the disk when its promise resolves, and survives a power
   * cut. `relaxed`: it survives the death of the process, but when the machine stops, the last seconds of changes may
   * be lost, and a change set may be found half there. Faster where a flush is slow.
   */
  readonly durability?: "full" | "relaxed" | undefined;
}

/**
 * Users' memory as Markdown files in a folder, for `createRuntime`. `createRuntime({ dataDir })` is short for it.
 *
 * Each user has a folder of their own, which no other user's call reaches; runtimes that use the same folder, in this
 * process or another, keep each other out of a user who is being served. What a person edits beside them is kept.
 *
 * A relative `dir` is resolved at once. Throws a `TypeError` or `RangeError` for options that make no sense, as `Mount` says;
 * nothing is opened or made before a runtime does.
 *
 * @example
 * const runtime = await createRuntime({ store: fileStore({ dir: "data", durability: "relaxed" }) });
 */
export function fileStore({ dir, mounts, durability = "full" }: FileStoreOptions): StoreDefinition {
  if (typeof dir !== "string" || dir === "") throw new TypeError("fileStore needs a dir");
  if (durability !== "full" && durability !== "relaxed") {
    throw new RangeError(`durability is ${String(durability)}, allowed: "full", "relaxed"`);
  }
  const dataDir = resolve(dir);
  const location = { kind: "files", dir: dataDir, mounts: checkMounts(mounts ?? [], dataDir) } as const;
  return {
    location,
    answerReads: null,
    open: (note) => openFiles(location, { durability, note }),
    checkTools: (tools) => refuseUnfitTools(tools, location.mounts),
    checkLogFile: (file) => refuseLogIn(location.mounts, file),
    // A log in the place of the users' folder would keep every user out.
    holdsFile: (file) => leadsInto(file, join(dataDir, usersFolder)),
  };
}
