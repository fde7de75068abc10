/**
 * Writes memory files as a zip file: in the form of 1989, which every program reads, because all that it describes is small
 * and not compressed.
 */
import { crc32 } from "node:zlib";

import { ToolError } from "../values/tool-error.ts";
import { giveTurn } from "../values/turns.ts";
import { aboutEntries, entriesOf, nameInExport } from "./about-entries.ts";
import type { NamedEntry, WrittenExport } from "./about-entries.ts";
import { transferLimits } from "./transfer-limits.ts";

const { zipEntriesMax: entriesMax, zipBytesMax: bytesMax } = transferLimits;

/**
 * The bytes of a zip file, piece by piece; only one content at a time is in memory. The same files give the same bytes on every
 * machine: all have the earliest time that a zip file can hold, and none is compressed, because a compressor's bytes depend on
 * its version. Throws `QUOTA_EXCEEDED` at once for more than a zip file can hold.
 */
export function zipOf(exported: WrittenExport): AsyncGenerator<Uint8Array> {
  const about = aboutEntries(exported.files);
  const entries = about.length + exported.files.length;
  const sizes = [
    ...about.map(([name, content]) => [name, content.length] as const),
    ...exported.files.map((file) => [nameInExport(file), file.bytes] as const),
  ];
  const bytes = sizes.reduce((sum, [name, size]) => sum + headBytes + 2 * Buffer.byteLength(name) + size, 0);
  if (entries <= entriesMax && bytes <= bytesMax) return piecesOf(entriesOf(exported, about));
  const reason = `a zip file that every program can read holds at most ${entriesMax} entries and 4 GiB, and this one would have ${entries} entries and ${bytes} bytes`;
  const remedy =
    'export it as JSON or as a folder ("--format json" or "--format markdown"), or scope by scope ("--scope")';
  throw new ToolError("QUOTA_EXCEEDED", `Cannot write the export: ${reason}; ${remedy}`);
}

const [beforeContent, inList] = [Buffer.from("PK\x03\x04"), Buffer.from("PK\x01\x02\x3f\x03", "latin1")];
/** What an entry takes beside its content, without its name. */
const headBytes = 30 + 46;

async function* piecesOf(entries: AsyncIterable<NamedEntry>): AsyncGenerator<Uint8Array> {
  const list: Buffer[] = [];
  let at = 0;
  for await (const [text, content] of entries) {
    // To sum it up takes a moment.
    await giveTurn();
    const name = Buffer.from(text);
    const facts = factsOf(name, content);
    const place = Buffer.alloc(14);
    // A regular file that only its owner can use.
    place.writeUInt32LE((0o100600 << 16) >>> 0, 6);
    place.writeUInt32LE(at, 10);
    list.push(Buffer.concat([inList, facts, place, name]));
    at += beforeContent.length + facts.length + name.length + content.length;
    yield Buffer.concat([beforeContent, facts, name]);
    yield content;
  }
  yield* list;
  const listBytes = list.reduce((sum, { length }) => sum + length, 0);
  const end = Buffer.alloc(22);
  end.write("PK\x05\x06");
  end.writeUInt16LE(list.length, 8);
  end.writeUInt16LE(list.length, 10);
  end.writeUInt32LE(listBytes, 12);
  end.writeUInt32LE(at, 16);
  yield end;
}

/** What a zip file tells of an entry twice: before its content, and in the list at the end. */
function factsOf(name: Buffer, content: Uint8Array): Buffer {
  const facts = Buffer.alloc(26);
  // Version 2.0 reads it, its name is UTF-8, and it is from the first of January 1980, at midnight.
  facts.writeUInt16LE(20, 0);
  facts.writeUInt16LE(0x800, 2);
  facts.writeUInt16LE(0x21, 8);
  facts.writeUInt32LE(crc32(content), 10);
  facts.writeUInt32LE(content.length, 14);
  facts.writeUInt32LE(content.length, 18);
  facts.writeUInt16LE(name.length, 22);
  return facts;
}
