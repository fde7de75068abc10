/**
 * The file store of the host that the crash suites run: the built one, or the copy with a seeded bug that `TEST_HOST`
 * names. Child processes inherit the variable and so run the same copy. One that needs only the store starts three times
 * as fast without the sandbox.
 */
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

import type * as DataRootModule from "../../host/disk/data-root.ts";
import type * as DiskFailureModule from "../../host/disk/disk-failure.ts";
import type * as FileStoreModule from "../../host/store/files/file-store.ts";

/** This file runs from `dist/test/` or from `test/`. In both cases the built host is in `dist/host/`. */
const here = fileURLToPath(new URL(".", import.meta.url));
export const projectFolder = here.includes("/dist/test/") ? join(here, "../../..") : join(here, "../..");
export const hostFolder: string = process.env["TEST_HOST"] ?? join(projectFolder, "dist/host");

/** A compiled host: the parts of it that the suites use. */
export interface Host {
  readonly FileStore: typeof FileStoreModule.FileStore;
  readonly DiskRoot: typeof DataRootModule.DiskRoot;
  readonly failureOfDisk: typeof DiskFailureModule.failureOfDisk;
  /** Where it is compiled. */
  readonly folder: string;
}

export async function loadHost(folder: string): Promise<Host> {
  const load = (file: string): Promise<unknown> => import(pathToFileURL(join(folder, file)).href);
  const { FileStore } = (await load("store/files/file-store.js")) as typeof FileStoreModule;
  const { DiskRoot } = (await load("disk/data-root.js")) as typeof DataRootModule;
  const { failureOfDisk } = (await load("disk/disk-failure.js")) as typeof DiskFailureModule;
  return { FileStore, DiskRoot, failureOfDisk, folder };
}

export const host = await loadHost(hostFolder);
export const { FileStore, DiskRoot, failureOfDisk } = host;
export type StoreUnderTest = InstanceType<typeof FileStore>;

/** The path of a compiled script of the crash suites, to run as a process. */
export const compiledScript = (path: string): string => join(projectFolder, "dist/test/crash", path);
