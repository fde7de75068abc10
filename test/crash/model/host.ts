import { join } from "node:path";
import { pathToFileURL } from "node:url";

import type * as DataRootModule from "../../../host/disk/data-root.ts";
import type * as DiskFailureModule from "../../../host/disk/disk-failure.ts";
import type * as FileStoreModule from "../../../host/store/files/file-store.ts";

/** The exports of a host that the model uses. */
export interface Host {
  readonly FileStore: typeof FileStoreModule.FileStore;
  readonly DiskRoot: typeof DataRootModule.DiskRoot;
  readonly failureOfDisk: typeof DiskFailureModule.failureOfDisk;
  /** Where it is compiled. */
  readonly folder: string;
}

/** Loads a compiled host from a folder: the built one, or a copy with a bug. */
export async function loadHost(folder: string): Promise<Host> {
  const load = (file: string): Promise<unknown> => import(pathToFileURL(join(folder, "store/files", file)).href);
  const { FileStore } = (await load("file-store.js")) as typeof FileStoreModule;
  const { DiskRoot } = (await load("../../disk/data-root.js")) as typeof DataRootModule;
  const { failureOfDisk } = (await load("../../disk/disk-failure.js")) as typeof DiskFailureModule;
  return { FileStore, DiskRoot, failureOfDisk, folder };
}
