import { join, resolve } from "node:path";

import { leadsInto } from "../../disk/leads-into.ts";
import { checkFields } from "../../values/known-fields.ts";
import type { Mount } from "../../values/mount.ts";
import type { StoreDefinition } from "../definition.ts";
import { checkMounts, refuseLogIn, refuseUnfitTools } from "./check-mounts.ts";
import { storesFolder, usersFolder } from "./home.ts";
import { openFiles } from "./open-files.ts";

export interface FileStoreOptions {
  /** The folder that holds `users/` and `stores/`. Made on the first write. */
  readonly dir: string;
  /** Folders that each stand for one scope of one user, such as a workspace's own notes. Default: none; at most 64. */
  readonly mounts?: readonly Mount[] | undefined;
  /**
   * `full`, the default: when a call's promise resolves, its changes are on the disk and survive a power cut.
   * `relaxed`: they survive the death of the process, but if the machine stops, the last seconds of changes can be
   * lost, and a change set can be there in part. Faster where a flush is slow.
   */
  readonly durability?: "full" | "relaxed" | undefined;
}

/**
 * Keeps users' memory as Markdown files in a folder, for `createRuntime`. `createRuntime({ dataDir })` is the short
 * form.
 *
 * Each user has a folder of their own, which no other user's call reaches. Runtimes that use the same folder, in this
 * process or another, exclude each other while they serve a user; on a read-only disk they can read together. Edits
 * that a person makes meanwhile are kept.
 *
 * A relative `dir` is resolved at once. Throws a `TypeError` or `RangeError` for invalid options, as `Mount` says.
 * Nothing is opened or created until a runtime opens the store.
 *
 * @example
 * const runtime = await createRuntime({ store: fileStore({ dir: "data", durability: "relaxed" }) });
 */
export function fileStore(options: FileStoreOptions): StoreDefinition {
  checkFields("fileStore", options, { dir: true, mounts: true, durability: true });
  const { dir, mounts, durability = "full" } = options;
  if (typeof dir !== "string" || dir === "") throw new TypeError("fileStore needs a dir");
  if (durability !== "full" && durability !== "relaxed") {
    throw new RangeError(`durability is ${String(durability)}, allowed: "full", "relaxed"`);
  }
  const dataDir = resolve(dir);
  const location = { kind: "files", dir: dataDir, mounts: checkMounts(mounts ?? [], dataDir) } as const;
  return {
    location,
    answerReads: null,
    open: (note, settings) => openFiles(location, { durability, note, ...(settings && { settings }) }),
    checkTools: (tools, hintFor) => refuseUnfitTools(tools, location.mounts, hintFor),
    checkLogFile: (file) => refuseLogIn(location.mounts, file),
    // A log file in the place of one of these folders would lock everybody out.
    holdsFile: (file) => [usersFolder, storesFolder].some((name) => leadsInto(file, join(dataDir, name))),
  };
}
