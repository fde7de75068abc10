/**
 * The file store of the host that the crash suites run: the built one, or the copy with a seeded bug that `TEST_HOST`
 * names. Child processes inherit the variable and so run the same copy. One that needs only the store starts three times
 * as fast without the sandbox.
 */
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

import type * as DiskFailureModule from "../../host/disk/disk-failure.ts";
import type * as PinnedDirectoryModule from "../../host/disk/pinned-directory.ts";
import type * as FileReaderModule from "../../host/store/files/file-reader.ts";
import type * as FilesEngineModule from "../../host/store/files/files-engine.ts";
import type * as StoreModule from "../../host/store/store.ts";
import { withHolds } from "../stage/store.ts";
import type { OpenedStore, StoreReaders } from "../stage/store.ts";

/** This file runs from `dist/test/` or from `test/`. In both cases the built host is in `dist/host/`. */
const here = fileURLToPath(new URL(".", import.meta.url));
export const projectFolder = here.includes("/dist/test/") ? join(here, "../../..") : join(here, "../..");
export const hostFolder: string = process.env["TEST_HOST"] ?? join(projectFolder, "dist/host");

type DataRoot = PinnedDirectoryModule.DataRoot;
type Setup = ConstructorParameters<typeof FilesEngineModule.FilesEngine>[1];

/** A store in a folder, with what its threads read by. */
export type StoreUnderTest = OpenedStore & StoreReaders;

/** A compiled host: the parts of it that the suites use. */
export interface Host {
  /** `boot`: the start of the machine. Default: this one. */
  readonly openFiles: (root: DataRoot, setup: Setup, boot?: string | null) => StoreUnderTest;
  readonly DiskRoot: typeof PinnedDirectoryModule.DiskRoot;
  readonly failureOfDisk: typeof DiskFailureModule.failureOfDisk;
  /** Where it is compiled. */
  readonly folder: string;
}

export async function loadHost(folder: string): Promise<Host> {
  const load = (file: string): Promise<unknown> => import(pathToFileURL(join(folder, file)).href);
  const { Store } = (await load("store/store.js")) as typeof StoreModule;
  const { FilesEngine } = (await load("store/files/files-engine.js")) as typeof FilesEngineModule;
  const { readersOf } = (await load("store/files/file-reader.js")) as typeof FileReaderModule;
  const { DiskRoot } = (await load("disk/pinned-directory.js")) as typeof PinnedDirectoryModule;
  const { failureOfDisk } = (await load("disk/disk-failure.js")) as typeof DiskFailureModule;
  const openFiles: Host["openFiles"] = (root, setup, boot) => {
    const engine = new FilesEngine(root, setup, boot);
    return Object.assign(withHolds(new Store(engine), engine), readersOf(root));
  };
  return { openFiles, DiskRoot, failureOfDisk, folder };
}

export const host = await loadHost(hostFolder);
export const { openFiles, DiskRoot, failureOfDisk } = host;

/** The path of a compiled script of the crash suites, to run as a process. */
export const compiledScript = (path: string): string => join(projectFolder, "dist/test/crash", path);
