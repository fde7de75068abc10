/**
 * Puts a few files of the host together with what they import, in place of the compiler's output, which does the same
 * only slower (`build/RATIONALE.md`, "Why are two files of the host bundled?").
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";

import { bundleForNode, bundleModule, projectFolder } from "./bundle.ts";

/** The package as npm installs it. */
export const zodPlace = "node_modules/zod";

const compiled = (path: string): string => join(projectFolder, "dist", path);

/** What `shared/zod.ts` uses of zod, and the code of a thread, without the packages that it imports. */
export async function bundleHost(): Promise<void> {
  const licence = await readFile(join(projectFolder, zodPlace, "LICENSE"), "utf8");
  const head = `/*! Contains code of zod.\n\n${licence.trim()}\n*/`;
  await bundleModule(join(projectFolder, "shared/zod.ts"), compiled("shared/zod.js"), head);
  await bundleForNode(compiled("host/thread/worker.js"));
}
