/**
 * A zip file can come from anyone. It is read in one way and within bounds, or refused with an error that names the
 * entry.
 */
import { expect, test } from "vitest";

import { readZip } from "../stage/archive.ts";
import { ToolError } from "../stage/store.ts";
import { asTexts } from "../support/memory-files.ts";
import { streamed, zipBytes } from "../support/zip-bytes.ts";
import type { ZipEntry } from "../support/zip-bytes.ts";
import { hostileZips, withFiles } from "./hostile-zips.ts";

const failureOf = async (bytes: Buffer): Promise<unknown> =>
  readZip(bytes).then(
    () => "it was read",
    (error) => error as unknown,
  );

test.for(hostileZips)("refuses %s", async ([, bytes, said]) => {
  const error = await failureOf(bytes);
  expect(error).toBeInstanceOf(ToolError);
  expect(error).toMatchObject({ code: "INPUT_INVALID", message: expect.stringMatching(said) as string });
  expect((error as ToolError).message).toMatch(/^Cannot read the zip file: [^\p{C}\p{Zl}\p{Zp}]+$/u);
  expect((error as ToolError).message.length).toBeLessThan(300);
});

test("reads valid files, stored or deflated", async () => {
  const files = await readZip(
    withFiles([
      { name: "memory/MEMORY.md", content: "" },
      { name: "memory/a.md", content: "text".repeat(1000), method: 8 },
      { name: "memory/trash/x", content: Buffer.from([0xff]), attributes: (0o100644 << 16) >>> 0 },
    ]),
  );
  expect(asTexts(files)).toEqual({ "MEMORY.md": "", "a.md": "text".repeat(1000), "trash/x": "\u00ff" });
});

const folder = (name: string): ZipEntry => ({ name, attributes: ((0o040755 << 16) | 0x10) >>> 0 });
const label: ZipEntry = { name: "memcell-export.json", content: '{"version":1,"scope":"memory","files":2}' };
const trust: ZipEntry = {
  name: "memcell-origins.json",
  content: '{"version":1,"trust":{"tool_external":["memory/a.md"]}}',
};
const a: ZipEntry = { name: "memory/a.md", content: "text".repeat(100), method: 8 };
const b: ZipEntry = { name: "memory/trash/x", content: "" };
const inside = (entry: ZipEntry): ZipEntry => ({ ...entry, name: `alice 1/${String(entry.name)}` });

test.for<readonly [what: string, entries: readonly ZipEntry[]]>([
  ["with folders, in any order", [folder("memory/"), b, folder("memory/trash/"), a, trust, label]],
  ["as the folder around it", [folder("alice 1/"), ...[folder("memory/"), a, b, label, trust].map(inside)]],
  [
    "as macOS packs it",
    [
      folder("alice 1/"),
      { name: "alice 1/.DS_Store", content: "Bud1" },
      { name: "__MACOSX/alice 1/._.DS_Store", content: "x", method: 8 },
      ...[label, trust, a, { name: "memory/.DS_Store", content: "Bud1" }, b, { name: "memory/._a.md" }].map(inside),
      folder("__MACOSX/"),
    ].map((entry) => (String(entry.name).endsWith("/") ? entry : streamed(entry))),
  ],
  ["streamed, without the optional signature", [label, trust, a, b].map((entry) => streamed(entry, false))],
  [
    "streamed, with folders",
    [folder("memory/"), folder("memory/trash/"), label, trust, a, b].map((entry) => streamed(entry)),
  ],
])("reads what a person has packed again: %s", async ([, entries]) => {
  const files = await readZip(zipBytes(entries));
  expect(asTexts(files)).toEqual({ "a.md": "text".repeat(100), "trash/x": "" });
  expect(files.find(({ path }) => path === "a.md")?.trust).toBe("tool_external");
});

test("reads a memory that is full to the last byte; the export's label does not count", async () => {
  const content = Buffer.alloc(2 ** 21);
  const trash = Array.from({ length: 32 }, (_, at) => ({ name: `memory/trash/x${at}`, content, method: 8 }));
  expect(await readZip(withFiles(trash))).toHaveLength(32);
  const message = "Cannot read the zip file: its files are more than 67108864 bytes, which is the most allowed";
  expect(await failureOf(withFiles([...trash, { name: "memory/trash/y", content: "y" }]))).toMatchObject({ message });
});

test("refuses every truncated zip file, and notices every flipped byte that has a meaning", async () => {
  const entry = { name: "memory/a.md", content: "text", method: 8 };
  for (const each of [entry, streamed(entry)]) await refuseWrong(withFiles([each]));
});

async function refuseWrong(whole: Buffer): Promise<void> {
  const expected = await readZip(whole);
  for (let length = 0; length < whole.length; length++) {
    expect(await failureOf(whole.subarray(0, length))).toBeInstanceOf(ToolError);
  }
  for (let at = 0; at < whole.length; at++) {
    const turned = Buffer.from(whole);
    turned[at] = (turned[at] ?? 0) ^ 0xff;
    const outcome = await readZip(turned).catch((error: unknown) => error);
    if (!(outcome instanceof ToolError)) expect(outcome).toEqual(expected);
  }
}
