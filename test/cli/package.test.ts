/** The published package, packed and unpacked: it has what it names, and nothing that leads nowhere. */
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

import { afterAll, expect, test } from "vitest";

import { linksIn } from "../documents/markdown-table.ts";
import { unpackPackage } from "../support/packed-package.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { shippedNames } from "../support/test-plugin.ts";

const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());

const unpacked = join(folder.path, "package");
unpackPackage(folder.path, unpacked);
const paths = readdirSync(unpacked, { recursive: true, encoding: "utf8" });

test("it has its entries, the policy, its schema and the lock file in the places that name them", () => {
  expect(paths).toEqual(
    expect.arrayContaining([
      "build/plugins.lock.json",
      "dist/shared/run-history/index.d.ts",
      "dist/shared/run-history/index.js",
      ...shippedNames().flatMap((name) => [`dist/plugins/${name}.wasm`, `dist/plugins/${name}.d.ts`]),
      "host/config/config.schema.json",
      "host/plugins/policy/default-policy.json",
      "host/plugins/policy/policy.schema.json",
    ]),
  );
});

test("it has no code of the clone but the examples: none that starts programs or writes files there", () => {
  const code = paths.filter((path) => /\.(?:ts|js|mjs|cjs|sh|py|go|rs|java|wat)$/.test(path));
  const foreign = code.filter((path) => !/^dist\/(?:host|shared|plugins|index\.d\.ts$)/.test(path));
  expect(foreign.toSorted()).toEqual([
    "test/executor/movement.ts",
    "test/executor/origins.ts",
    "test/types/programs/anthropic.ts",
    "test/types/programs/executor.ts",
    "test/types/programs/openai.ts",
  ]);
});

test("every link of its documents leads to a file in it", () => {
  const documents = paths.filter((path) => path.endsWith(".md"));
  expect(documents).toContain("README.md");
  const dead = documents.flatMap((document) =>
    linksIn(readFileSync(join(unpacked, document), "utf8"))
      .map((link) => link.replace(/#.*$/, ""))
      .filter((path) => path !== "" && !existsSync(join(unpacked, dirname(document), path)))
      .map((path) => `${document}: ${path}`),
  );
  expect(dead).toEqual([]);
});

test("it has no source map, and names no place on the web: the project has none that is its own", () => {
  expect(paths.filter((path) => path.endsWith(".map"))).toEqual([]);
  const named = JSON.parse(readFileSync(join(unpacked, "package.json"), "utf8")) as object;
  expect(Object.keys(named).filter((key) => ["repository", "homepage", "bugs"].includes(key))).toEqual([]);
});

test("plugins that cannot be listed are not taken for none", () => {
  const [plugins, others] = [join(unpacked, "dist/plugins"), join(unpacked, "dist/others")];
  const modules = join(unpacked, "node_modules");
  symlinkSync(join(dirname(fileURLToPath(import.meta.resolve("memcell/package.json"))), "node_modules"), modules);
  renameSync(plugins, others);
  const listed = (): string => {
    const args = [join(unpacked, "dist/host/cli/main.js"), "tools", "--plugin", join(others, "journal.wasm")];
    const { stdout, stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
    return stdout + stderr;
  };
  // A program that ships only plugins of its own has none of the package.
  expect(listed()).toContain("memory_read");
  writeFileSync(plugins, "");
  expect(listed()).toContain("Cannot list the plugins of the package: something else is in a folder's place");
  rmSync(plugins);
  renameSync(others, plugins);
  rmSync(modules);
});
