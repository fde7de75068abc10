/** Every build gives the same plugin file. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

import { expect, test } from "vitest";

import { buildPlugin } from "../../build/build-plugin.ts";
import { readFamilies } from "../../build/family.ts";
import { shippedPlugin } from "../support/test-plugin.ts";

const wasm = readFileSync(shippedPlugin("user-memory"));

test("building twice gives the same bytes as the present file", { timeout: 300_000 }, async () => {
  const pluginFolder = fileURLToPath(new URL("../../plugin", import.meta.url));
  const source = (await readFamilies(pluginFolder)).find(({ family }) => family.name === "user-memory");
  if (!source) throw new Error("The family user-memory is not there");
  const [first, second] = [await buildPlugin(source), await buildPlugin(source)];
  expect(first.sha256).toBe(second.sha256);
  expect(Buffer.compare(first.wasm, wasm)).toBe(0);
  const record = readFileSync(`${shippedPlugin("user-memory")}.sha256`, "utf8");
  expect(record).toBe(`${first.sha256}  user-memory.wasm\n`);
});
