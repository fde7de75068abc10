/** A project of a user: the package as `npm pack` lays it out, and programs that are compiled against it. */
import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { unpackPackage } from "../support/packed-package.ts";

const projectFolder: string = fileURLToPath(new URL("../..", import.meta.url));
const programs = join(projectFolder, "test", "types", "programs");

export interface PackedConsumer extends Disposable {
  readonly folder: string;
  /** Its files, with the program of README.md. */
  programs(): string[];
  /** Compiles some of its files, without the types of browsers, and with those of all packages checked. */
  compile(
    files: readonly string[],
    options?: Readonly<Record<string, unknown>>,
  ): { status: number | null; said: string };
}

/** Its folder is inside the clone, so that it finds the packages that the clone has installed, but not the clone itself. */
export function packedConsumer(): PackedConsumer {
  const folder = mkdtempSync(join(projectFolder, "dist", "packed-consumer-"));
  const installed = join(folder, "node_modules", "memcell");
  unpackPackage(folder, installed);
  writeFileSync(join(folder, "package.json"), JSON.stringify({ name: "consumer", type: "module" }));
  cpSync(programs, folder, { recursive: true });
  cpSync(join(projectFolder, "dist", "test-plugins", "sample.d.ts"), join(folder, "sample.d.ts"));
  const readme = readFileSync(join(projectFolder, "README.md"), "utf8");
  const [, program = ""] = /\n## Use it\n.*?\n```ts\n(.*?)```\n/s.exec(readme) ?? [];
  writeFileSync(join(folder, "readme.ts"), program);
  return {
    folder,
    programs: () => readdirSync(folder).filter((file) => file.endsWith(".ts") && !file.endsWith(".d.ts")),
    compile: (files, options = {}) => {
      const compilerOptions = { ...strictest, ...options };
      writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files }));
      const compiler = join(projectFolder, "node_modules", "typescript", "bin", "tsc");
      const { status, stdout } = spawnSync(process.execPath, [compiler, "-p", folder], { encoding: "utf8" });
      return { status, said: stdout };
    },
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
}

const strictest = {
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  target: "es2023",
  lib: ["es2023"],
  types: ["node"],
  module: "nodenext",
  skipLibCheck: false,
  noEmit: true,
};
