/** Zip files that are not exports, each wrong in one way, and the error for each. */
import { deflateRawSync } from "node:zlib";

import { streamed, zipBytes } from "../support/zip-bytes.ts";
import type { ZipEntry, ZipParts } from "../support/zip-bytes.ts";

const labelOf = (files: number): ZipEntry => ({
  name: "memcell-export.json",
  content: `{"version":1,"scope":"memory","files":${files}}\n`,
});
const good: ZipEntry = { name: "memory/a.md", content: "text" };

export const withFiles = (files: readonly ZipEntry[], parts: ZipParts = {}): Buffer =>
  zipBytes([labelOf(files.length), ...files], parts);
const withEntry = (entry: Partial<ZipEntry>): Buffer => withFiles([{ ...good, ...entry }]);
const named = (name: string | Buffer): Buffer => withEntry({ name });
const labelled = (content: string | Buffer): Buffer => zipBytes([{ name: "memcell-export.json", content }, good]);

const originsOf = (content: string): ZipEntry => ({ name: "memcell-origins.json", content });
const toldTrust = (content: string): Buffer => zipBytes([labelOf(1), originsOf(content), good]);
const notTold = /its "memcell-origins.json" is not of version 1, or names a file twice/;

const unix = (mode: number): number => (mode << 16) >>> 0;
const zeros = Buffer.alloc(2 ** 21);
const bombData = deflateRawSync(Buffer.alloc(2 ** 26));
const zip64Extra = Buffer.concat([Buffer.from([1, 0, 16, 0]), Buffer.alloc(16)]);
const secondName = Buffer.concat([Buffer.from([0x75, 0x70, 11, 0, 1, 0, 0, 0, 0]), Buffer.from("../b.m")]);
const noLabel = /it has no "memcell-export.json"/;
const inFolder = (folder: string, entry: ZipEntry): ZipEntry => ({ ...entry, name: `${folder}/${String(entry.name)}` });
const ofName = /entry ".*" is refused: its name is neither/;
const behindParts = /the file has something before, between or behind its parts/;

export const hostileZips: readonly (readonly [name: string, bytes: Buffer, said: RegExp])[] = [
  ["nothing", Buffer.alloc(0), /the file is no zip file/],
  ["a text", Buffer.from("PK, but no zip file, for all that it is long enough"), /the file is no zip file/],
  ["a zip file without entries", zipBytes([]), noLabel],
  ["a zip file without a label", zipBytes([good]), noLabel],
  [
    "labels in two folders",
    zipBytes([inFolder("a", labelOf(1)), inFolder("b", labelOf(1)), inFolder("a", good)]),
    noLabel,
  ],
  ["a file beside the folder of the label", zipBytes([inFolder("a", labelOf(1)), good]), ofName],
  ["a label in a folder in a folder", zipBytes([inFolder("a/b", labelOf(1)), inFolder("a/b", good)]), noLabel],
  ["a folder around it that climbs", zipBytes([inFolder("..", labelOf(1)), inFolder("..", good)]), ofName],
  ["a label of another version", labelled('{"version":3,"scopes":["memory"],"files":1}'), noLabel],
  ["a label with a key twice", labelled('{"version":2,"version":1,"scope":"memory","files":1}'), noLabel],
  ["a label of version 2 in the form of version 1", labelled('{"version":2,"scope":"memory","files":1}'), noLabel],
  ["a label that names no scope", labelled('{"version":2,"scopes":["../x"],"files":1}'), noLabel],
  [
    "files of a scope that its label does not name",
    withFiles([{ ...good, name: "journal/a.md" }]),
    /entry "journal\/a.md" is in no scope that the label names/,
  ],
  ["a label with more in it", labelled('{"version":1,"scope":"memory","files":1,"user":"x"}'), noLabel],
  ["a label that is no JSON", labelled("{"), noLabel],
  ["a label that is no UTF-8", labelled(Buffer.from([0xff])), noLabel],
  ["a giant label", labelled(" ".repeat(4097)), /entry "memcell-export.json" is refused: it is 4097 bytes/],
  ["two labels", zipBytes([labelOf(1), labelOf(1)]), /entry "memcell-export.json" is there twice/],
  ["a trust of another version", toldTrust('{"version":2,"trust":{}}'), notTold],
  ["a trust that raises", toldTrust('{"version":1,"trust":{"owner_edit":["memory/a.md"]}}'), notTold],
  [
    "a file with two trusts",
    toldTrust(
      `{"version":1,"trust":{${["tool_external", "untrusted_document"].map((each) => `"${each}":["memory/a.md"]`).join()}}}`,
    ),
    notTold,
  ],
  [
    "the trust of no file",
    toldTrust('{"version":1,"trust":{"tool_external":["memory/b.md"]}}'),
    /names "memory\/b.md", which is not there/,
  ],
  ["a trust that is no JSON", toldTrust("{"), notTold],
  ["a wrong trust behind the files", zipBytes([labelOf(1), good, originsOf("{}")]), notTold],
  [
    "a giant trust",
    zipBytes([labelOf(1), { ...originsOf(""), size: 2 ** 25 }, good]),
    /"memcell-origins.json" is refused: it is 33554432 bytes/,
  ],
  ["fewer files than its label says", zipBytes([labelOf(2), good]), /it holds 1 files, and its label says 2/],
  ...[
    ...[
      "memory/../../b.md",
      "../b.md",
      "/etc/cron.d/x",
      "memory\\a.md",
      "C:/a.md",
      "memory/\u00e9.md",
      "memory/e\u0301.md",
    ],
    ...["", "memory/.", "memory/.memcell/journal", `memory/${"x".repeat(65_528)}`],
  ].map((name) => [`the name ${name.slice(0, 30)}`, named(name), ofName] as const),
  ["NUL in a name", named("memory/a.md\0.txt"), /entry "memory\/a.md\\u0000.txt" is refused/],
  ["a terminal's command in a name", named("memory/\u001b[2Ja.md"), /entry "memory\/\\u001b\[2Ja.md" is refused/],
  ["bytes that are no text in a name", named(Buffer.from([0x6d, 0xff, 0xfe])), ofName],
  ["a folder with a content", named("memory/trash/"), /it is a folder with a content/],
  ["a folder that no path leads through", withEntry({ name: "Library/", content: "" }), ofName],
  [
    "a folder in a file's place",
    withFiles([good, { name: "memory/a.md/", content: "" }]),
    /differ only by case or a slash/,
  ],
  [
    "a link of a folder's name",
    withEntry({ name: "memory/x/", attributes: unix(0o120777), content: "" }),
    /no regular file/,
  ],
  [
    "what macOS keeps, as a link",
    withEntry({ name: "memory/.DS_Store", attributes: unix(0o120777) }),
    /no regular file/,
  ],
  ["what macOS keeps, with a name that climbs", named("__MACOSX/../../a.md"), ofName],
  ["what macOS keeps, damaged", withEntry({ name: "__MACOSX/._memory", crc: 1 }), /is damaged/],
  [
    "what macOS keeps, as a bomb",
    withEntry({ name: ".DS_Store", method: 8, data: bombData, size: 2 ** 26 }),
    /at most 2097152 allowed/,
  ],
  ["a folder by its attributes", withEntry({ attributes: 0x10 }), /it is a folder/],
  ...[0o040755, 0o120777, 0o010644, 0o060644].map(
    (mode) =>
      [`the mode ${mode.toString(8)}`, withEntry({ attributes: unix(mode) }), /a link or no regular file/] as const,
  ),
  ["a name twice", withFiles([good, good]), /entry "memory\/a.md" is there twice/],
  ["names that case tells apart", withFiles([good, { ...good, name: "memory/A.md" }]), /differ only by case/],
  ["an encrypted entry", withEntry({ flags: 1 }), /it is encrypted/],
  ["a strongly encrypted entry", withEntry({ flags: 0x41 }), /it is damaged/],
  ["a masked header", withEntry({ flags: 0x2000 }), /it is encrypted/],
  ["another compression", withEntry({ method: 12, data: Buffer.from("x") }), /its compression is 12/],
  [
    "a size behind a content that is not compressed",
    withEntry({ flags: 8, behind: Buffer.alloc(16) }),
    /its size comes after its content/,
  ],
  [
    "a wrong size behind the content",
    withFiles([{ ...streamed(good), behind: Buffer.alloc(16) }]),
    /measures behind its content that do not agree/,
  ],
  [
    "no size behind the content",
    withFiles([{ ...streamed(good), behind: Buffer.alloc(0) }]),
    /measures behind its content that do not agree/,
  ],
  [
    "a size behind the content, and another in front",
    withFiles([streamed({ ...good, local: { size: 5 } })]),
    /two headers that do not agree/,
  ],
  [
    "a size of 8 bytes behind the content",
    withFiles([streamed({ ...good, local: { extra: zip64Extra } })]),
    /two headers that do not agree/,
  ],
  [
    "another entry in an entry's content, for programs that read from the beginning",
    withFiles([streamed({ ...good, data: Buffer.concat([deflateRawSync(Buffer.from("text")), zipBytes([good])]) })]),
    /entry "memory\/a.md" is damaged/,
  ],
  ["a second name", withEntry({ extra: secondName }), /it has a second name/],
  ["a second name in front", withEntry({ local: { extra: secondName } }), /two headers that do not agree/],
  ["zip64 fields", withEntry({ extra: zip64Extra }), /it is in the zip64 form/],
  ["zip64 fields that are needed", withEntry({ extra: zip64Extra, size: 2 ** 32 - 1 }), /it is in the zip64 form/],
  ["extra fields that end early", withEntry({ extra: Buffer.from([9, 9, 9, 0]) }), /it is damaged/],
  [
    "a file over 2 MiB",
    withEntry({ content: Buffer.alloc(2 ** 21 + 1) }),
    /it is 2097153 bytes, at most 2097152 allowed/,
  ],
  ["a bomb that says what it is", withEntry({ method: 8, data: bombData, size: 2 ** 26 }), /at most 2097152 allowed/],
  [
    "a bomb that says it is small",
    withEntry({ method: 8, data: bombData, size: 10 }),
    /entry "memory\/a.md" is damaged/,
  ],
  ["less than an entry says", withEntry({ method: 8, size: 2000 }), /entry "memory\/a.md" is damaged/],
  [
    "many files of the largest size",
    withFiles(Array.from({ length: 33 }, (_, at) => ({ name: `memory/trash/${at}`, method: 8, content: zeros }))),
    /its files are more than 67108864 bytes/,
  ],
  [
    "two sizes that do not agree",
    withEntry({ size: 3 }),
    /entry "memory\/a.md" is refused: its two sizes do not agree/,
  ],
  ["a wrong checksum", withEntry({ crc: 1 }), /entry "memory\/a.md" is damaged/],
  ["content that is not deflated", withEntry({ method: 8, data: Buffer.from([0xff, 0xff]) }), /entry .* is damaged/],
  [
    "another name in front",
    withEntry({ local: { name: Buffer.from("memory/b.md") } }),
    /two headers that do not agree/,
  ],
  ["another size in front", withEntry({ local: { size: 5 } }), /two headers that do not agree/],
  ["another compression in front", withEntry({ local: { method: 8 } }), /two headers that do not agree/],
  ["another flag in front", withEntry({ local: { flags: 8 } }), /two headers that do not agree/],
  [
    "entries that share content",
    withFiles([good, { ...good, name: "memory/b.md", offset: 0 }]),
    /does not begin where/,
  ],
  ["an entry that is nowhere", withEntry({ offset: 2 ** 31 }), /does not begin where/],
  [
    "something between entries",
    withFiles([
      { ...good, behind: Buffer.from("x") },
      { ...good, name: "memory/b.md" },
    ]),
    /does not begin/,
  ],
  ["a file that is not listed", withFiles([good], { between: zipBytes([good]).subarray(0, 45) }), behindParts],
  ["a program before it", withFiles([good], { before: Buffer.from("#!/bin/sh\n") }), /does not begin where/],
  ["a program before it, not counted", Buffer.concat([Buffer.from("#!/bin/sh\n"), withFiles([good])]), behindParts],
  ["something behind it", withFiles([good], { behind: Buffer.from("x") }), /the file is no zip file/],
  ["two zip files", Buffer.concat([withFiles([good]), withFiles([])]), behindParts],
  ["a comment", withFiles([good], { comment: "x" }), /the file is no zip file/],
  ["a zip file in a comment", withFiles([good], { comment: withFiles([]).toString("latin1") }), behindParts],
  ["a list that is elsewhere", withFiles([good], { listAt: 3 }), behindParts],
  ["a list of another length", withFiles([good], { listBytes: 3 }), behindParts],
  [
    "fewer entries than are listed",
    withFiles([good, { ...good, name: "memory/b.md" }], { entries: 2 }),
    /holds 1 files|damaged|behind/,
  ],
  ["more entries than are listed", withFiles([good], { entries: 3 }), /it is damaged/],
  ["65,535 entries", withFiles([good], { entries: 65_535 }), /zip64 form/],
  ["61,000 entries", withFiles([good], { entries: 61_000 }), /the file has 61000 entries, at most 60002 allowed/],
];
