/**
 * A zip file can come from anyone. An export is read as any program packs it again. What is dangerous, or what two programs
 * would read in two ways, is refused with an error that names the entry.
 */
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { deflateRawSync } from "node:zlib";

import { expect, test } from "vitest";

import { readZip } from "../stage/archive.ts";
import { ToolError } from "../stage/store.ts";
import { asTexts } from "../support/memory-files.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { extraField, streamed, unicodeName, zipBytes } from "../support/zip-bytes.ts";
import type { ZipEntry, ZipParts } from "../support/zip-bytes.ts";

const labelOf = (files: number): ZipEntry => ({
  name: "memcell-export.json",
  content: `{"version":1,"scope":"memory","files":${files}}\n`,
});
const originsOf = (content: string): ZipEntry => ({ name: "memcell-origins.json", content });
const withFiles = (files: readonly ZipEntry[], parts: ZipParts = {}): Buffer =>
  zipBytes([labelOf(files.length), ...files], parts);
const unix = (mode: number): number => (mode << 16) >>> 0;

/** Packs the files on standard input in each way of Python's standard library. */
const packing = `
import io, json, os, shutil, sys, zipfile
files, to = json.load(sys.stdin), sys.argv[1]
class Pipe(io.RawIOBase):
    def __init__(self, file): self.file = file
    def writable(self): return True
    def write(self, data): return self.file.write(data)
for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
    for long in (False, True):
        for kind in (Pipe, lambda file: file):
            with open(f"{to}/{method}-{long}-{kind.__name__[0]}.zip", "wb") as file, zipfile.ZipFile(kind(file), "w", method) as made:
                for name, text in files.items():
                    with made.open(name, "w", force_zip64=long) as entry: entry.write(text.encode())
for name, text in files.items():
    os.makedirs(os.path.dirname(f"{to}/Gedächtnis/{name}"), exist_ok=True)
    open(f"{to}/Gedächtnis/{name}", "w").write(text)
shutil.make_archive(f"{to}/folder", "zip", to, "Gedächtnis")
shutil.make_archive(f"{to}/inside", "zip", f"{to}/Gedächtnis")
`;

const failureOf = async (bytes: Buffer): Promise<unknown> =>
  readZip(bytes).then(
    () => "it was read",
    (error) => error as unknown,
  );

const label = labelOf(2);
const trust = originsOf('{"version":1,"trust":{"tool_external":["memory/a.md"]}}');
const a: ZipEntry = { name: "memory/a.md", content: "text".repeat(100), method: 8 };
const b: ZipEntry = { name: "memory/trash/x", content: "" };
const all = [label, trust, a, b];
const folder = (name: string): ZipEntry => ({ name, attributes: (unix(0o040755) | 0x10) >>> 0 });
const named = (entries: readonly ZipEntry[], name: (name: string) => string | Buffer): ZipEntry[] =>
  entries.map((entry) => Object.assign({}, entry, { name: name(String(entry.name)) }));
const inside = (top: string, entries: readonly ZipEntry[]): ZipEntry[] => named(entries, (name) => top + name);
const long = (entry: ZipEntry): ZipEntry => {
  const local = { compressed: 0xffffffff, size: 0xffffffff, extra: extraField(1, Buffer.alloc(16)) };
  return Object.assign({}, entry, { local: { ...entry.local, ...local } });
};
const infoZip = (entry: ZipEntry): ZipEntry => {
  const extra = Buffer.concat([extraField(0x5455, Buffer.alloc(5)), extraField(0x7875, Buffer.alloc(11))]);
  const told = { compressed: 0, extra: Buffer.concat([extraField(0x5455, Buffer.alloc(9)), extra]) };
  return Object.assign(streamed({ ...entry, extra }), { local: { ...told, crc: 0 } });
};
const cyrillic = Buffer.from([0xa0, 0xab, 0xa8, 0xe1, 0xa0, 0x2f]);

test.for<readonly [what: string, entries: readonly ZipEntry[], parts?: ZipParts]>([
  ["with folders, in any order", [folder("memory/"), b, folder("memory/trash/"), a, trust, label]],
  ["without folders, with a comment", all, { comment: "packed on Monday" }],
  ["as the folder around it", inside("alice 1/", [folder(""), folder("memory/"), a, b, label, trust])],
  ["as one of several folders around it", [folder("home/"), ...inside("home/alice/out/", all)]],
  [
    "by macOS: streamed, names in UTF-8 that nothing says are, its own files",
    [
      ...inside("Gedächtnis/", [
        folder(""),
        { name: ".DS_Store", content: "Bud1" },
        ...all.map((each) => streamed(each)),
      ]),
      ...inside("Gedächtnis/memory/", [{ name: ".DS_Store", content: "Bud1" }, { name: "._a.md" }]),
      { name: "__MACOSX/Gedächtnis/._.DS_Store", content: "x", method: 8 },
      { name: "__MACOSX/Gedächtnis/memory/._a.md", content: "x", method: 8 },
    ],
  ],
  [
    "by Windows, with its own files",
    inside("alice/", [
      ...all,
      { name: "desktop.ini", attributes: 0x26, content: "[.ShellClassInfo]" },
      { name: "Thumbs.db" },
    ]),
  ],
  [
    "by an old program of Windows",
    named(inside("alice/", [...all, folder("memory/")]), (name) => name.replaceAll("/", "\\")),
  ],
  [
    "by WinRAR, where folders are not named in English",
    inside("алиса/", all).map((entry) => {
      const name = Buffer.concat([cyrillic, Buffer.from(String(entry.name).slice(6))]);
      const extra = unicodeName(String(entry.name), name);
      return Object.assign({}, entry, { name, extra, local: { extra } });
    }),
  ],
  ["by zip -r -", [folder("memory/"), ...all.map((each) => infoZip(each))]],
  ["by bsdtar", [folder("./"), ...inside("./", [folder("memory/"), ...all.map((each) => infoZip(each))])]],
  [
    "by jar",
    [
      { ...folder("META-INF/"), method: 8, extra: extraField(0xcafe, Buffer.alloc(0)) },
      { name: "META-INF/MANIFEST.MF", content: "Manifest-Version: 1.0" },
      ...all.map((each) => ({ ...each, flags: 0x800 })),
    ].map((each) => streamed(each)),
  ],
  ["by Go: streamed, and not compressed", all.map((each) => streamed({ ...each, method: 0 }))],
  ["streamed, without the optional signature", all.map((each) => streamed(each, false))],
  ["streamed, with sizes for 64 bits", all.map((each) => long(streamed(each)))],
  ["with sizes for 64 bits in its list", all.map((each) => ({ ...each, extra: extraField(1, Buffer.alloc(16)) }))],
  [
    "with gaps between its parts",
    all.map((each) => ({ ...each, behind: Buffer.alloc(9) })),
    { between: Buffer.alloc(5) },
  ],
  ["with a file that is deleted, and not from the list", all, { between: zipBytes([a]).subarray(0, 45) }],
  ["with an empty folder", [...all, folder("Library/")]],
  [
    "with a label of a later writer",
    [{ ...label, content: '{"version":2,"scopes":[],"files":2,"by":"x"}' }, trust, a, b],
  ],
])("reads what is packed again: %s", async ([, entries, parts]) => {
  const files = await readZip(zipBytes(entries, parts));
  expect(asTexts(files)).toEqual({ "a.md": "text".repeat(100), "trash/x": "" });
  expect(files.find(({ path }) => path === "a.md")?.trust).toBe("tool_external");
  expect(files.find(({ path }) => path === "trash/x")).not.toHaveProperty("trust");
});

test.for([0, 0x800])("reads names as people give them, with the flags %i, in any form of Unicode", async (flags) => {
  const told = originsOf('{"version":1,"trust":{"tool_external":["memory/Über uns/Größe.md"]}}');
  const names = ["memory/U\u0308ber uns/Größe.md", "memory/日記 1.md", "memory/%C3%A9.md"];
  const entries = [labelOf(3), told, ...names.map((name) => ({ name, content: "x" }))];
  const found = await readZip(zipBytes(entries.map((entry) => Object.assign({ flags }, entry))));
  expect(found.map(({ path, trust: of }) => [path, of])).toEqual([
    ["%C3%9Cber%20uns/Gr%C3%B6%C3%9Fe.md", "tool_external"],
    ["%E6%97%A5%E8%A8%98%201.md", undefined],
    ["%C3%A9.md", undefined],
  ]);
});

test("reads what Python writes, to a file or a pipe", async () => {
  using at = temporaryFolder();
  const texts = { "memory/a.md": "text".repeat(100), "memory/trash/x": "" };
  const files = { ...texts, [String(label.name)]: label.content, [String(trust.name)]: trust.content };
  execFileSync("python3", ["-c", packing, at.path], { input: JSON.stringify(files) });
  const zips = readdirSync(at.path).filter((name) => name.endsWith(".zip"));
  expect(zips).toHaveLength(10);
  for (const name of zips) {
    const found = await readZip(readFileSync(join(at.path, name)));
    const read = Object.fromEntries(found.map(({ path, content, trust: of }) => [path, [String(content), of]]));
    expect({ name, read }).toEqual({
      name,
      read: { "a.md": [texts["memory/a.md"], "tool_external"], "trash/x": ["", undefined] },
    });
  }
});

test("reads an export with files taken out or added, and what is told of the trust of the others", async () => {
  const added = { name: "journal/2025/desktop.ini", content: "a file, if a plugin says so" };
  const without = await readZip(zipBytes([labelOf(3), trust, b, added]));
  expect(without.map(({ scope, path, trust: of }) => [scope, path, of])).toEqual([
    // It could be the one that is gone, under another name.
    ["memory", "trash/x", "tool_external"],
    ["journal", "2025/desktop.ini", undefined],
  ]);
  expect((await readZip(zipBytes([label, trust, a, b, added]))).map((file) => file.trust)).toEqual([
    "tool_external",
    undefined,
    undefined,
  ]);
});

test("reads an export without its label, if all is in scopes, and what is told of trust stays", async () => {
  expect(asTexts(await readZip(zipBytes([folder("memory/"), a, b])))).toHaveProperty(["trash/x"], "");
  expect((await readZip(zipBytes([trust, a])))[0]).toMatchObject({ scope: "memory", trust: "tool_external" });
});

test("reads as much as there is: a scope's bounds are those of an import", async () => {
  const content = Buffer.alloc(2 ** 21);
  const trash = Array.from({ length: 65 }, (_, at) => ({ name: `memory/trash/x${at}`, content, method: 8 }));
  expect(await readZip(withFiles(trash))).toHaveLength(65);
});

const good: ZipEntry = { name: "memory/a.md", content: "text" };
const other: ZipEntry = { ...good, name: "memory/b.md" };
const bombData = deflateRawSync(Buffer.alloc(2 ** 26));
const noName = /entry ".*" is refused: its name is neither "memcell-export.json" nor a scope and a path inside it/;
const unsound = /it is no sound zip file: ".+"/;
const climbs = /it is no sound zip file: "invalid relative path: .*\.\.\/.*"/;
const noFile = /entry "memory\/a.md" is refused: it is a link or no regular file/;
const damaged = /entry "memory\/a.md" is refused: it is damaged/;
const packedLarge = /entry "memory\/a.md" is refused: it is packed into \d+ bytes; expected at most 4194304/;
const tooLarge = /entry "memory\/a.md" is refused: it is \d+ bytes; expected at most 2097152/;
const encrypted = /entry "memory\/a.md" is refused: it is encrypted/;
const otherName = /entry "memory\/.*" is refused: it has another name, too: ".+"/;
const twoWays = /entry "memory\/a.md" is refused: what is told of it twice does not agree/;
const sameOnDisk = /entry ".*" is refused: on some disks it has the name of ".*"/;
const noList = /its list is not before its end; pack again without zip64/;
const control = /entry "memory\/.*\\u00.*" is refused: its name has a control character/;

/** One file in a zip file that is well otherwise: its fields, where they differ from those of a good one. */
const wrongEntries: readonly (readonly [name: string, entry: Partial<ZipEntry>, said: RegExp])[] = [
  ["a name that climbs", { name: "memory/../../b.md" }, climbs],
  ["a name that climbs by backslashes", { name: "memory\\..\\..\\b.md" }, climbs],
  ["a name that climbs, of a file that is left out", { name: "../.DS_Store" }, climbs],
  ["a name from the root", { name: "/etc/passwd" }, /no sound zip file: "absolute path: \/etc\/passwd"/],
  ["a name with a drive", { name: "C:\\memory\\a.md" }, /no sound zip file: "absolute path: C:\/memory\/a.md"/],
  ["NUL in a name", { name: "memory/a.md\0.txt" }, control],
  ["NUL in a name that is left out", { name: "memory/a.md\0/.DS_Store" }, control],
  ["a terminal's command in a name", { name: "memory/\u001b[2Ja.md", flags: 0x800 }, control],
  ["the host's own folder", { name: "memory/.memcell/journal" }, noName],
  ["a name with a step that leads nowhere", { name: "memory/./a.md" }, noName],
  ["a hidden character in a name", { name: "memory/\u202Ea.md", flags: 0x800 }, noName],
  ["a name that no path can have", { name: "memory/12:30.md" }, noName],
  ["an encoded name that climbs", { name: "memory/%2E%2E/a.md" }, noName],
  ["a name of 65,535 bytes", { name: `memory/${"x".repeat(65_528)}` }, noName],
  ["a file that is in no scope", { name: "notes.md" }, noName],
  ["a folder with a content", { name: "memory/trash/" }, /it is a folder with a content/],
  ["a folder by its mode", { attributes: unix(0o040755) }, noFile],
  ["a folder by its attribute", { attributes: 0x10 }, /it is a folder without a slash at its end/],
  ["a link", { attributes: unix(0o120777), content: "/etc/passwd" }, noFile],
  ["a device", { attributes: unix(0o020666) }, noFile],
  ["an encrypted entry", { flags: 1 }, encrypted],
  ["an entry of strong encryption", { flags: 0x41 }, /no sound zip file: "strong encryption is not supported"/],
  ["another compression", { method: 12, data: Buffer.from("x") }, /its compression is 12; expected 0 or 8/],
  ["a second name that climbs", { extra: unicodeName("../b.md", "memory/a.md") }, climbs],
  ["a second name", { extra: unicodeName("memory/b.md", "memory/a.md") }, otherName],
  ["a second name in front", { local: { extra: unicodeName("memory/b.md", "memory/a.md") } }, otherName],
  ["another name in front", { local: { name: Buffer.from("memory/b.md") } }, otherName],
  [
    "another name in front of what is left out",
    { name: "memory/.DS_Store", local: { name: Buffer.from("memory/b.md") } },
    otherName,
  ],
  ["another compression in front", { local: { method: 8 } }, twoWays],
  ["another size in front", { local: { compressed: 3 } }, twoWays],
  ["another checksum in front", { local: { crc: 1 } }, twoWays],
  ["a size behind the content, and another in front", streamed({ ...good, local: { size: 5 } }), twoWays],
  ["extra fields that end early", { extra: Buffer.from([9, 9, 9, 0]) }, unsound],
  ["a file over 2 MiB", { content: Buffer.alloc(2 ** 21 + 1) }, tooLarge],
  ["a bomb that says what it is", { method: 8, data: bombData, size: 2 ** 26 }, tooLarge],
  ["a bomb that says it is small", { method: 8, data: bombData, size: 10 }, damaged],
  ["a bomb that says it is empty", { method: 8, data: bombData, size: 0 }, damaged],
  ["much that is packed into more", { method: 8, data: Buffer.alloc(2 ** 22 + 1), size: 4 }, packedLarge],
  ["less than it says", { method: 8, size: 5 }, damaged],
  ["two sizes of a content that is not compressed", { size: 5 }, damaged],
  ["a wrong checksum", { crc: 1 }, damaged],
  ["no header in front", { offset: 1 }, damaged],
  ["a content that ends behind the file", { size: 230, compressed: 230 }, damaged],
];

/** What stands in place of the label of one good file. */
const wrongLabels: readonly (readonly [name: string, label: string | Buffer])[] = [
  ["a label of another version", '{"version":3,"scopes":["memory"],"files":1}'],
  ["a label with a key twice", '{"version":2,"version":1,"scope":"memory","files":1}'],
  ["a label that is not UTF-8", Buffer.from([0x7b, 0xff])],
];
const wrongLabel = /its "memcell-export.json" is not of version 1 or 2/;

const notTold = /its "memcell-origins.json" is not of version 1, or names a file twice/;
const twoTrusts = '{"version":1,"trust":{"tool_external":["memory/a.md"],"untrusted_document":["memory/a.md"]}}';

/** What tells how far one good file is trusted. */
const wrongTrusts: readonly (readonly [name: string, origins: string, said: RegExp])[] = [
  ["a trust of another version", '{"version":2,"trust":{}}', notTold],
  ["a trust that is cut off", '{"version":1,"trust":{"tool_ext', notTold],
  ["a trust that raises", '{"version":1,"trust":{"owner_edit":["memory/a.md"]}}', notTold],
  ["two trusts", twoTrusts, notTold],
  [
    "the trust of a file that has another name now",
    '{"version":1,"trust":{"tool_external":["memory/b.md"]}}',
    /"memory\/b.md"; expected the name of a file that is there/,
  ],
];

/** Each takes nearly the whole file as its content. */
const overlapping = Array.from({ length: 5 }, (_, at) => ({
  name: `memory/${at}.md`,
  content: "text",
  compressed: 200,
}));
const trustOfOther = originsOf('{"version":1,"trust":{"tool_external":["memory/b.md"]}}');

/** In its list stands a second end in the long form, which tells some programs of another list. */
function withLongEnd(): Buffer {
  const bytes = withFiles([{ ...good, extra: extraField(0x9999, Buffer.alloc(76)) }]);
  const at = bytes.length - 22 - 76;
  bytes.writeUInt32LE(0x06064b50, at);
  bytes.writeUInt32LE(2, at + 32);
  bytes.writeUInt32LE(0x07064b50, at + 56);
  bytes.writeUInt32LE(at, at + 64);
  return bytes;
}

const as = (name: string): ZipEntry => ({ ...good, name, flags: 0x800 });

const wrongFiles: readonly (readonly [name: string, bytes: Buffer, said: RegExp])[] = [
  ["nothing", Buffer.alloc(0), unsound],
  ["a zip file with nothing in it", zipBytes([]), /it has neither "memcell-export.json" nor a file of a scope/],
  ["a file beside the folder of the label", zipBytes([...inside("a/", [labelOf(1)]), good]), noName],
  ["a folder around it that climbs", zipBytes(inside("../", [labelOf(1), good])), climbs],
  ["two labels", zipBytes([labelOf(1), labelOf(1)]), sameOnDisk],
  ["two exports", zipBytes([...inside("a 1/", [labelOf(1), good]), ...inside("b 1/", [labelOf(1), other])]), noName],
  [
    "a giant label",
    zipBytes([{ ...labelOf(1), size: 2 ** 25 }, good]),
    /it is 33554432 bytes; expected at most 19922944/,
  ],
  ["a wrong trust behind the files", zipBytes([labelOf(1), good, originsOf("{}")]), notTold],
  ["a giant trust", zipBytes([labelOf(1), { ...originsOf(""), size: 2 ** 25 }, good]), /it is 33554432 bytes/],
  [
    "the trust of a file that is not there, without a label",
    zipBytes([trustOfOther, good]),
    /expected the name of a file/,
  ],
  ["a name twice", withFiles([good, good]), sameOnDisk],
  ["names that case tells apart", withFiles([good, { ...good, name: "memory/A.md" }]), sameOnDisk],
  ["names that case tells apart in another script", withFiles([as("memory/Ж.md"), as("memory/ж.md")]), sameOnDisk],
  ["names that Unicode's form tells apart", withFiles([as("memory/\u00e9.md"), as("memory/e\u0301.md")]), sameOnDisk],
  ["a name, and its encoding", withFiles([as("memory/é.md"), as("memory/%C3%A9.md")]), sameOnDisk],
  ["names that a backslash tells apart", withFiles([good, { ...good, name: "memory\\a.md" }]), sameOnDisk],
  ["entries that share a header", withFiles([good, { ...other, offset: 0 }]), otherName],
  ["entries that share contents", withFiles(overlapping), /its entries have \d+ bytes; expected at most \d+/],
  ["something before it", Buffer.concat([Buffer.from("x"), withFiles([good])]), noList],
  ["something behind it", withFiles([good], { behind: Buffer.from("x") }), unsound],
  ["a list that is elsewhere", withFiles([good], { listAt: 3 }), noList],
  [
    "a list that is shorter for some",
    withFiles([good, other], { entries: 2 }),
    /its list has more entries than its end says/,
  ],
  ["a list of fewer bytes than entries", withFiles([good], { listBytes: 46 }), noList],
  ["an end in a comment", withFiles([good], { comment: zipBytes([good]).toString("latin1") }), noList],
  ["a second end, in the zip64 form", withLongEnd(), noList],
  ["61,000 entries", withFiles([good], { entries: 61_000 }), unsound],
];

const hostileZips: readonly (readonly [name: string, bytes: Buffer, said: RegExp])[] = [
  ...wrongFiles,
  ...wrongEntries.map(([name, entry, said]) => [name, withFiles([{ ...good, ...entry }]), said] as const),
  ...wrongLabels.map(([name, content]) => [name, zipBytes([{ ...labelOf(1), content }, good]), wrongLabel] as const),
  ...wrongTrusts.map(
    ([name, content, said]) => [name, zipBytes([labelOf(1), originsOf(content), good]), said] as const,
  ),
];

test.for(hostileZips)("refuses %s", async ([, bytes, said]) => {
  const error = await failureOf(bytes);
  expect(error).toBeInstanceOf(ToolError);
  expect(error).toMatchObject({ code: "INPUT_INVALID", message: expect.stringMatching(said) as string });
  expect((error as ToolError).message).toMatch(/^Cannot read the export: [^\p{C}\p{Zl}\p{Zp}]+$/u);
  expect((error as ToolError).message.length).toBeLessThan(300);
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
