/** One file that takes the YAML library too long, or too much memory, costs only itself. */
import { createRuntime } from "memcell";
import { expect, test } from "vitest";

import { temporaryFolder } from "../support/temporary-folder.ts";
import { writeUserFiles } from "../support/user-files.ts";

const entry = (text: string): string => `---\ndescription: d\ntype: user\n${text}---\nBody`;

test.for([
  { name: "20 KB of blank lines", text: "\n".repeat(20_000) },
  { name: "20 KB of blank lines with spaces", text: "  \n".repeat(7_000) },
  { name: "a folded text of 900 KB", text: `note: >\n  ${"word ".repeat(180_000)}\n` },
  { name: "100,000 open brackets", text: `note: ${"[".repeat(100_000)}\n` },
  { name: "16 KB of nested lists", text: `note:\n${"- ".repeat(8_000)}x\n` },
  {
    name: "aliases of aliases",
    text: `a: &a [x, x]\n${Array.from({ length: 200 }, (_, at) => `b${at}: &b${at} [*a, *a]\n`).join("")}`,
  },
])("an entry with $name", async ({ text }) => {
  using folder = temporaryFolder();
  const files = { "memory/bad.md": entry(text), "memory/good.md": entry("") };
  writeUserFiles(folder.path, { alice: files });
  await using runtime = await createRuntime({ dataDir: folder.path, plugins: ["user-memory"], threadsMax: 1 });
  const alice = { userId: "alice" };
  // Without an index, it is built from the entries.
  expect(await runtime.memoryIndex(alice)).toContain("[good](good.md)");
  const problems = (await runtime.upkeep.inspect(alice)).map(({ problem }) => problem);
  expect(problems).not.toContain("not-inspected");
  expect(await runtime.call("ReadUserMemory", { name: "good" }, alice)).toMatchObject({ ok: true });
  const mended = await runtime.upkeep.mend(alice);
  expect(mended.length).toBeGreaterThan(0);
  expect((await runtime.upkeep.inspect(alice)).filter(({ remedy }) => remedy !== null)).toEqual([]);
  const exported = await runtime.upkeep.export(alice);
  expect(exported.files.some(({ content }) => Buffer.from(content).equals(Buffer.from(files["memory/bad.md"])))).toBe(
    true,
  );
});

test("an index of many entries in other YAML parses each once", async () => {
  using folder = temporaryFolder();
  const names = Array.from({ length: 190 }, (_, at) => `entry-${at}`);
  const words = "word ".repeat(50);
  const files = Object.fromEntries(
    names.map((name) => [
      `memory/${name}.md`,
      `---\nname: ${name}\ndescription: >-\n  About ${name}\n  ${words}\ntype: user\nnote: ${words}\n---\n# A heading\n`,
    ]),
  );
  const lines = names.map((name) => `- [${name}](${name}.md) — x\n`).join("");
  writeUserFiles(folder.path, { alice: files, bob: { ...files, "memory/MEMORY.md": lines } });
  await using runtime = await createRuntime({ dataDir: folder.path, plugins: ["user-memory"], threadsMax: 1 });
  const described = async (userId: string): Promise<number> =>
    (await runtime.memoryIndex({ userId })).split("\n").filter((line) => line.includes("About entry-")).length;
  expect(await described("bob")).toBe(await described("alice"));
  expect(await runtime.memoryIndex({ userId: "bob" })).not.toContain("A heading");
});
