/**
 * The shipped plugin, tampered with: text and page say what is wrong, the command exits with 1, and no runtime runs it.
 * Each reason to refuse a file is in `test/escape/plugin-refused.test.ts`; `test/fuzz/plugin-bytes.test.ts` shows that
 * an audit gives the same ones.
 */
import { truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { createRuntime, ToolError } from "memcell";
import { afterAll, expect, test } from "vitest";

import { readSections, sectionIds } from "../../shared/wasm-sections.ts";
import { writeModule } from "../../shared/wasm-writer.ts";
import { memcell } from "../stage/command.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { audit } from "./audited.ts";
import { imported, mapped, otherSections, resealed, sections, shippedBytes, withTool } from "./changed-plugin.ts";

const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());

const flipped = (id: number, part: number): Uint8Array =>
  mapped(id, (payload) => {
    const at = Math.floor((payload.length - 1) * part);
    return payload.fill((payload[at] ?? 0) ^ 0x01, at, at + 1);
  });

const read = "ReadUserMemory";
const notReviewed = "this is not the file that was reviewed.";
const ofNoPlugin = "which the policy pins for no plugin: this is not a file that was reviewed.";
const noManifest = 'It has not exactly one custom section "memcell:manifest".';
const wasi = 'It imports function "wasi_snapshot_preview1" "fd_write"';
const withWasi = (from = sections): Uint8Array => imported("wasi_snapshot_preview1", "fd_write", from);

test.for<readonly [name: string, bytes: Uint8Array, ...told: string[]]>([
  // The result is not always a module.
  ...Object.entries({ ...sectionIds, code: 10 })
    .filter(([, id]) => sections.some((each) => each.id === id))
    .map(([kind, id]) => [`a flipped bit in its ${kind} section`, flipped(id, 1)] as const),
  ["WASI", withWasi(), `${wasi}, which its manifest does not account for:`, notReviewed],
  [
    "a right and a scope that the policy does not grant",
    withTool(read, { rights: ["read", "write"], scopes: ["memory", "secrets"] }),
    `The tool "${read}" asks for "write", the policy grants it "list", "read".`,
    `The tool "${read}" asks for the scope "secrets", the policy grants it "memory".`,
    notReviewed,
  ],
  [
    "another plugin's name",
    resealed({ name: "other" }),
    'The policy "default" does not name the plugin "other", so it grants it nothing',
  ],
  ["no manifest", writeModule(otherSections), noManifest, ofNoPlugin],
  [
    "code that no engine accepts",
    mapped(10, (payload) => payload.fill(0xff, payload.length - 8)),
    "It is not a valid WebAssembly module: no engine takes it.",
    notReviewed,
  ],
  [
    "several changes at once",
    withWasi(readSections(withTool("PromptIndex", { rights: ["read", "list", "write"] }))),
    wasi,
    'The tool "PromptIndex" asks for "write"',
    notReviewed,
  ],
  ["nothing", new Uint8Array(0), "It is not a valid WebAssembly module"],
])("reports %s, and no runtime runs it", async ([, bytes, ...told]) => {
  const file = join(folder.path, "tampered.wasm");
  writeFileSync(file, bytes);
  const { status, text, printed, words } = await audit(file);
  expect(status).toBe(1);
  for (const sentence of told) expect([text.includes(sentence), words.includes(sentence)]).toEqual([true, true]);
  // The hash covers every byte.
  expect(told.length > 0 || text.includes(notReviewed) || text.includes(ofNoPlugin)).toBe(true);
  expect(printed).toMatch(/\nFAIL {2}\d+ deviations?\n$/);
  expect(printed).not.toContain(folder.path);
  expect(words).toContain("✕ FAIL");
  expect(words).not.toContain("✓ PASS");
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
