/**
 * Only the file store of the host that the crash suites run (`host-under-test.ts`): a process that needs only the store
 * starts three times as fast without the sandbox.
 */
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

import type * as DataRootModule from "../../host/disk/data-root.ts";
import type * as FileStoreModule from "../../host/store/files/file-store.ts";

/** This file runs from `dist/test/` or from `test/`. In both cases the built host is in `dist/host/`. */
const here = fileURLToPath(new URL(".", import.meta.url));
export const projectFolder = here.includes("/dist/test/") ? join(here, "../../..") : join(here, "../..");
const filesFolder = join(process.env["TEST_HOST"] ?? join(projectFolder, "dist/host"), "store/files");

const load = (file: string): Promise<unknown> => import(pathToFileURL(join(filesFolder, file)).href);

export const { FileStore } = (await load("file-store.js")) as typeof FileStoreModule;
export const { DiskRoot } = (await load("../../disk/data-root.js")) as typeof DataRootModule;

/** The path of a compiled script of the crash suites, to run as a process. */
export const compiledScript = (path: string): string => join(projectFolder, "dist/test/crash", path);
