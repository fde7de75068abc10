/** The README's program prints what the README shows. */
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { expect, test } from "vitest";

import { textOf } from "../documents/tracked-files.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

test("the README's program prints what the README shows", () => {
  const [, program = "", shown] =
    /```js\n([\s\S]*?)```\n\n```\n([\s\S]*?)```/.exec(textOf("shared/anthropic/README.md")) ?? [];
  using folder = temporaryFolder();
  // In the package's own folder, so that Node resolves the package's name.
  const file = join(fileURLToPath(new URL("../..", import.meta.url)), "dist", "anthropic-program.mjs");
  writeFileSync(file, program);
  expect(execFileSync(process.execPath, [file], { cwd: folder.path, encoding: "utf8" })).toBe(shown);
});
