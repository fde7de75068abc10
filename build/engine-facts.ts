/** Facts about QuickJS itself, which is linked in as a part of its package's `quickjs.wasm`. */
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";

import { Engine, engineWasmPath } from "./engine.ts";
import type { PackageFacts } from "./package-facts.ts";

/** The package's key in `package-lock.json`. */
export const enginePlace = "node_modules/quickjs-wasi";

/** The package's statement of its engine's origin. If a new version says something else, a person has to read it. */
const origin = "- Built from [quickjs-ng](https://github.com/quickjs-ng/quickjs) (MIT license)\n";

export async function readEngineFacts(): Promise<Omit<PackageFacts, "sha512">> {
  const readme = await readFile(join(dirname(engineWasmPath), "README.md"), "utf8");
  if (!readme.includes(origin)) {
    throw new Error('Cannot build: the README of package "quickjs-wasi" does not state QuickJS\'s origin and licence');
  }
  const { version } = await Engine.forGuest();
  return { name: "quickjs-ng", version, licence: "MIT", purl: `pkg:github/quickjs-ng/quickjs@v${version}` };
}
