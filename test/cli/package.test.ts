/** The published package contains the files that the host reads at run time. */
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";

import { expect, test } from "vitest";

import { shippedNames } from "../support/test-plugin.ts";

const projectFolder = fileURLToPath(new URL("../..", import.meta.url));

test("the package has its entries, the policy, its schema and the lock file in the places that name them", () => {
  const args = ["pack", "--dry-run", "--ignore-scripts", "--json"];
  const output = execFileSync("npm", args, { cwd: projectFolder, encoding: "utf8" });
  const [packed] = JSON.parse(output) as { files: { path: string }[] }[];
  const paths = packed?.files.map(({ path }) => path) ?? [];
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
  // Code that starts programs and writes files of the clone is not published.
  expect(
    paths.filter((path) => /^(build\/(?!plugins\.lock\.json$)|dist\/build|plugin|test|shared)\//.test(path)),
  ).toEqual([]);
});
