/**
 * A zip file can come from anyone. It is read in one way and within bounds, or refused with an error that names the
 * entry.
 */
import { deflateRawSync } from "node:zlib";

import { expect, test } from "vitest";

import { readZip } from "../stage/archive.ts";
import { ToolError } from "../stage/store.ts";
import { asTexts } from "../support/memory-files.ts";
import { streamed, zipBytes } from "../support/zip-bytes.ts";
import type { ZipEntry, ZipParts } from "../support/zip-bytes.ts";

const labelOf = (files: number): ZipEntry => ({
  name: "memcell-export.json",
  content: `{"version":1,"scope":"memory","files":${files}}\n`,
});
const good: ZipEntry = { name: "memory/a.md", content: "text" };
const other: ZipEntry = { ...good, name: "memory/b.md" };

const withFiles = (files: readonly ZipEntry[], parts: ZipParts = {}): Buffer =>
  zipBytes([labelOf(files.length), ...files], parts);

const unix = (mode: number): number => (mode << 16) >>> 0;
const zeros = Buffer.alloc(2 ** 21);
const bombData = deflateRawSync(Buffer.alloc(2 ** 26));
const zip64Extra = Buffer.concat([Buffer.from([1, 0, 16, 0]), Buffer.alloc(16)]);
const secondName = Buffer.concat([Buffer.from([0x75, 0x70, 11, 0, 1, 0, 0, 0, 0]), Buffer.from("../b.m")]);
/** A program that reads from the beginning finds another entry. */
const zipInside = Buffer.concat([deflateRawSync(Buffer.from("text")), zipBytes([good])]);

const noLabel = /it has no "memcell-export.json"/;
const ofName = /entry ".*" is refused: its name is neither/;
const noFile = /it is a link or no regular file/;
const damaged = /entry ".*" is damaged|it is damaged/;
const tooLarge = /at most 2097152 allowed/;
const encrypted = /it is encrypted/;
const zip64 = /it is in the zip64 form/;
const twoHeaders = /two headers that do not agree/;
const behindContent = /measures behind its content that do not agree/;
const elsewhere = /does not begin where/;
const noZip = /the file is no zip file/;
const behindParts = /the file has something before, between or behind its parts/;

/** One file in a zip file that is well otherwise: its fields, where they differ from those of a good one. */
const wrongEntries: readonly (readonly [name: string, entry: Partial<ZipEntry>, said: RegExp])[] = [
  ["a name that climbs", { name: "memory/../../b.md" }, ofName],
  ["NUL in a name", { name: "memory/a.md\0.txt" }, /entry "memory\/a.md\\u0000.txt" is refused/],
  ["a terminal's command in a name", { name: "memory/\u001b[2Ja.md" }, /entry "memory\/\\u001b\[2Ja.md" is refused/],
  ["the host's own folder", { name: "memory/.memcell/journal" }, ofName],
  ["a name of 65,535 bytes", { name: `memory/${"x".repeat(65_528)}` }, ofName],
  ["a folder with a content", { name: "memory/trash/" }, /it is a folder with a content/],
  ["a folder that no path leads through", { name: "Library/", content: "" }, ofName],
  ["a folder by its mode", { attributes: unix(0o040755) }, noFile],
  ["a link", { attributes: unix(0o120777), content: "/etc/passwd" }, noFile],
  ["an encrypted entry", { flags: 1 }, encrypted],
  ["another compression", { method: 12, data: Buffer.from("x") }, /its compression is 12/],
  ["a size behind a plain content", { flags: 8, behind: Buffer.alloc(16) }, /its size comes after its content/],
  ["no size behind the content", { ...streamed(good), behind: Buffer.alloc(0) }, behindContent],
  ["a size behind the content, and another in front", streamed({ ...good, local: { size: 5 } }), twoHeaders],
  ["another entry in an entry's content", streamed({ ...good, data: zipInside }), damaged],
  ["a second name", { extra: secondName }, /it has a second name/],
  ["zip64 fields", { extra: zip64Extra }, zip64],
  ["extra fields that end early", { extra: Buffer.from([9, 9, 9, 0]) }, damaged],
  ["a file over 2 MiB", { content: Buffer.alloc(2 ** 21 + 1) }, /it is 2097153 bytes, at most 2097152 allowed/],
  ["a bomb that says what it is", { method: 8, data: bombData, size: 2 ** 26 }, tooLarge],
  ["a bomb that says it is small", { method: 8, data: bombData, size: 10 }, damaged],
  ["a wrong checksum", { crc: 1 }, damaged],
  ["another name in front", { local: { name: Buffer.from("memory/b.md") } }, twoHeaders],
];

/** What stands in place of the label of one good file. */
const wrongLabels: readonly (readonly [name: string, label: string | Buffer])[] = [
  ["a label of another version", '{"version":3,"scopes":["memory"],"files":1}'],
  ["a label with a key twice", '{"version":2,"version":1,"scope":"memory","files":1}'],
  ["a label with more in it", '{"version":1,"scope":"memory","files":1,"user":"x"}'],
];

const notTold = /its "memcell-origins.json" is not of version 1, or names a file twice/;

/** What tells how far one good file is trusted. */
const wrongTrusts: readonly (readonly [name: string, origins: string, said: RegExp])[] = [
  ["a trust of another version", '{"version":2,"trust":{}}', notTold],
  ["a trust that raises", '{"version":1,"trust":{"owner_edit":["memory/a.md"]}}', notTold],
  [
    "two trusts",
    '{"version":1,"trust":{"tool_external":["memory/a.md"],"untrusted_document":["memory/a.md"]}}',
    notTold,
  ],
  ["the trust of no file", '{"version":1,"trust":{"tool_external":["memory/b.md"]}}', /"memory\/b.md", which is not/],
];
const originsOf = (content: string): ZipEntry => ({ name: "memcell-origins.json", content });

const within = (folder: string, ...entries: readonly ZipEntry[]): ZipEntry[] =>
  entries.map((entry) => Object.assign({}, entry, { name: `${folder}/${String(entry.name)}` }));
const many = Array.from({ length: 33 }, (_, at) => ({ name: `memory/trash/${at}`, method: 8, content: zeros }));

const wrongFiles: readonly (readonly [name: string, bytes: Buffer, said: RegExp])[] = [
  ["nothing", Buffer.alloc(0), noZip],
  ["a zip file without a label", zipBytes([good]), noLabel],
  ["a file beside the folder of the label", zipBytes([...within("a", labelOf(1)), good]), ofName],
  ["a folder around it that climbs", zipBytes(within("..", labelOf(1), good)), ofName],
  ["a file of another scope", withFiles([{ ...good, name: "journal/a.md" }]), /in no scope that the label names/],
  ["two labels", zipBytes([labelOf(1), labelOf(1)]), /entry "memcell-export.json" is there twice/],
  ["a giant label", zipBytes([{ ...labelOf(1), content: " ".repeat(4097) }, good]), /it is 4097 bytes/],
  ["a wrong trust behind the files", zipBytes([labelOf(1), good, originsOf("{}")]), notTold],
  ["a giant trust", zipBytes([labelOf(1), { ...originsOf(""), size: 2 ** 25 }, good]), /it is 33554432 bytes/],
  ["fewer files than its label says", zipBytes([labelOf(2), good]), /it holds 1 files, and its label says 2/],
  ["a folder in a file's place", withFiles([good, { name: "memory/a.md/", content: "" }]), /only by case or a slash/],
  ["a name twice", withFiles([good, good]), /entry "memory\/a.md" is there twice/],
  ["names that case tells apart", withFiles([good, { ...good, name: "memory/A.md" }]), /differ only by case/],
  ["many files of the largest size", withFiles(many), /its files are more than 67108864 bytes/],
  ["entries that share content", withFiles([good, { ...other, offset: 0 }]), elsewhere],
  ["something between entries", withFiles([{ ...good, behind: Buffer.from("x") }, other]), elsewhere],
  ["a file that is not listed", withFiles([good], { between: zipBytes([good]).subarray(0, 45) }), behindParts],
  ["something behind it", withFiles([good], { behind: Buffer.from("x") }), noZip],
  ["a list that is elsewhere", withFiles([good], { listAt: 3 }), behindParts],
  ["61,000 entries", withFiles([good], { entries: 61_000 }), /the file has 61000 entries, at most 60002 allowed/],
];

const hostileZips: readonly (readonly [name: string, bytes: Buffer, said: RegExp])[] = [
  ...wrongFiles,
  ...wrongEntries.map(([name, entry, said]) => [name, withFiles([{ ...good, ...entry }]), said] as const),
  ...wrongLabels.map(([name, content]) => [name, zipBytes([{ ...labelOf(1), content }, good]), noLabel] as const),
  ...wrongTrusts.map(
    ([name, content, said]) => [name, zipBytes([labelOf(1), originsOf(content), good]), said] as const,
  ),
];

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

async function refuseWrong(right: Buffer): Promise<void> {
  const expected = await readZip(right);
  for (let length = 0; length < right.length; length++) {
    expect(await failureOf(right.subarray(0, length))).toBeInstanceOf(ToolError);
  }
  for (let at = 0; at < right.length; at++) {
    const turned = Buffer.from(right);
    turned[at] = (turned[at] ?? 0) ^ 0xff;
    const outcome = await readZip(turned).catch((error: unknown) => error);
    if (!(outcome instanceof ToolError)) expect(outcome).toEqual(expected);
  }
}
