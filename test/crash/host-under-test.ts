/**
 * The host that the crash suites run: the built one, or the copy with a seeded bug that `TEST_HOST` names. Child
 * processes inherit the variable and so run the same copy.
 */
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

import type * as DataRootModule from "../../host/disk/data-root.ts";
import type * as DiskFailureModule from "../../host/disk/disk-failure.ts";
import type * as RuntimeModule from "../../host/runtime/runtime.ts";
import type * as FileStoreModule from "../../host/store/files/file-store.ts";

/** This file runs from `dist/test/` or from `test/`. In both cases the built host is in `dist/host/`. */
const here = fileURLToPath(new URL(".", import.meta.url));
const project = here.includes("/dist/test/") ? join(here, "../../..") : join(here, "../..");

export const hostFolder: string = process.env["TEST_HOST"] ?? join(project, "dist/host");

const load = (file: string): Promise<unknown> => import(pathToFileURL(join(hostFolder, file)).href);

export const { FileStore } = (await load("store/files/file-store.js")) as typeof FileStoreModule;
export const { DiskRoot } = (await load("disk/data-root.js")) as typeof DataRootModule;
export const { failureOfDisk } = (await load("disk/disk-failure.js")) as typeof DiskFailureModule;
export const { createRuntime } = (await load("runtime/runtime.js")) as typeof RuntimeModule;
