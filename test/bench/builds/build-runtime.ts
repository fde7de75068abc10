import { join } from "node:path";
import { pathToFileURL } from "node:url";

import type { Runtime } from "memcell";

interface Host {
  readonly createRuntime: (options: { dataDir: string }) => Promise<Runtime>;
}

/** A runtime of a build. Whatever the build is, it can make one. */
export async function buildRuntime(build: string, dataDir: string): Promise<Runtime> {
  const { createRuntime } = (await import(pathToFileURL(join(build, "dist/host/index.js")).href)) as Host;
  return await createRuntime({ dataDir });
}
