import { join } from "node:path";
import { pathToFileURL } from "node:url";

import type * as DataRootModule from "../../../host/disk/data-root.ts";
import type * as FileStoreModule from "../../../host/store/files/file-store.ts";

/** What the model needs of a host. */
export interface Host {
  readonly FileStore: typeof FileStoreModule.FileStore;
  readonly DiskRoot: typeof DataRootModule.DiskRoot;
}

/** A compiled host from any folder: the built one, or a copy with a bug. */
export async function loadHost(folder: string): Promise<Host> {
  const load = (file: string): Promise<unknown> => import(pathToFileURL(join(folder, "store/files", file)).href);
  const { FileStore } = (await load("file-store.js")) as typeof FileStoreModule;
  const { DiskRoot } = (await load("../../disk/data-root.js")) as typeof DataRootModule;
  return { FileStore, DiskRoot };
}
