/** The shipped plugin, tampered with: text and page say what is wrong, the command exits with 1, and no runtime runs it. */
import { truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { createRuntime, ToolError } from "memcell";
import { afterAll, expect, test } from "vitest";

import { memcell } from "../stage/command.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { audit } from "./audited.ts";
import { flippedFiles, notReviewed, ofNoPlugin, shippedBytes, tamperedFiles } from "./tampered-files.ts";

const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());

test.for([...tamperedFiles, ...flippedFiles])("reports %s, and no runtime runs it", async ([, bytes, ...told]) => {
  const file = join(folder.path, "tampered.wasm");
  writeFileSync(file, bytes);
  const { status, text, printed, words } = await audit(file);
  expect(status).toBe(1);
  for (const sentence of told) expect(text).toContain(sentence);
  // The hash covers every byte.
  expect(told.length > 0 || text.includes(notReviewed) || text.includes(ofNoPlugin)).toBe(true);
  expect(printed).toMatch(/\nFAIL {2}\d+ deviations?\n$/);
  expect(printed).not.toContain(folder.path);
  expect(words).toContain("✕ FAIL");
  expect(words).not.toContain("✓ PASS");
  expect(told.filter((each) => !words.includes(each))).toEqual([]);
  const loaded = await createRuntime({ dataDir: folder.path, plugins: [file] }).catch((thrown: unknown) => thrown);
  if (loaded instanceof ToolError) return;
  // The policy grants a plugin of another name nothing.
  await using runtime = loaded as Awaited<ReturnType<typeof createRuntime>>;
  expect({ tools: runtime.tools(), families: runtime.families() }).toEqual({ tools: [], families: [] });
});

test.for([
  { name: "a file that is not there", file: "absent.wasm", told: "It cannot be read." },
  { name: "a folder", file: ".", told: "It is not a regular file." },
  { name: "a device that never ends", file: "/dev/zero", told: "It is not a regular file." },
  { name: "a huge file", file: "huge.wasm", told: "It is 1099511627776 bytes, at most 16777216 allowed." },
])("reports $name without reading it", async ({ file, told }) => {
  writeFileSync(join(folder.path, "huge.wasm"), shippedBytes);
  truncateSync(join(folder.path, "huge.wasm"), 2 ** 40);
  const { status, stdout } = await memcell(["audit", file], { cwd: folder.path });
  expect(status).toBe(1);
  expect(stdout).toContain(told);
});

test("control: the untampered plugin passes, whatever its file is called", async () => {
  const file = join(folder.path, "renamed.wasm");
  writeFileSync(file, shippedBytes);
  const { status, printed, words } = await audit(file);
  expect(status).toBe(0);
  expect(printed).toMatch(/\nPASS {2}.*\n$/);
  expect(words).toContain("✓ PASS");
});
