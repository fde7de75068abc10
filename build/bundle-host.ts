/**
 * `npm run compile`, after the compiler: writes what the host uses of zod, and the code of a thread, each as one file in
 * place of the compiler's output, which does the same only slower (`build/RATIONALE.md`, "Why are two files of the host
 * bundled?").
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";

import { bundleModule, projectFolder } from "./bundle.ts";
import { dropDeclarations } from "./drop-declarations.ts";
import { linkedPackages } from "./linked-packages.ts";
import { zodPlace } from "./package-facts.ts";

/** The packages that a thread loads. */
const apart = ["@extism/extism", "fs-native-extensions"];

const licence = await readFile(join(projectFolder, zodPlace, "LICENSE"), "utf8");
const head = `/*! Contains code of zod.\n\n${licence.trim()}\n*/`;

for (const path of ["shared/zod", "host/thread/worker"]) {
  const [source, compiled] = [join(projectFolder, `${path}.ts`), join(projectFolder, `dist/${path}.js`)];
  const files = await bundleModule(source, compiled, { head, apart, platform: "node" });
  const other = linkedPackages(files).packages.find(({ place }) => place !== zodPlace);
  if (other !== undefined) throw new Error(`Cannot bundle ${path}.ts: it contains ${other.place}, only zod is allowed`);
}

await dropDeclarations();
