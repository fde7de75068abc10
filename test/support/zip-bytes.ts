/** Builds zip files byte by byte, with possible errors in any place. */
import { crc32, deflateRawSync } from "node:zlib";

/** The fields of both headers of an entry. `local` overrides them in the local header. */
interface HeaderFields {
  readonly flags: number;
  readonly method: number;
  readonly crc: number;
  readonly compressed: number;
  readonly size: number;
  readonly name: Buffer;
}

export interface ZipEntry extends Partial<Omit<HeaderFields, "name">> {
  readonly name: string | Buffer;
  readonly content?: string | Buffer;
  /** The stored bytes. Default: the content, deflated if the method is 8. */
  readonly data?: Buffer;
  readonly attributes?: number;
  readonly extra?: Buffer;
  readonly offset?: number;
  /** Appended after the content. */
  readonly behind?: Buffer;
  readonly local?: Partial<HeaderFields> & { readonly extra?: Buffer };
}

export interface ZipParts {
  readonly before?: Buffer;
  readonly between?: Buffer;
  readonly behind?: Buffer;
  readonly comment?: string;
  readonly entries?: number;
  readonly listAt?: number;
  readonly listBytes?: number;
}

const length = (of: readonly Buffer[]): number => of.reduce((sum, { length: bytes }) => sum + bytes, 0);

export function zipBytes(entries: readonly ZipEntry[], parts: ZipParts = {}): Buffer {
  const pieces: Buffer[] = [parts.before ?? Buffer.alloc(0)];
  const list: Buffer[] = [];
  for (const entry of entries) {
    const content = Buffer.from(entry.content ?? "");
    const method = entry.method ?? 0;
    const data = entry.data ?? (method === 8 ? deflateRawSync(content) : content);
    const { flags = 0, crc = crc32(content), compressed = data.length, size = content.length } = entry;
    const fields: HeaderFields = { flags, method, crc, compressed, size, name: Buffer.from(entry.name) };
    const at = entry.offset ?? length(pieces);
    list.push(listed(fields, { at, attributes: entry.attributes ?? 0, extra: entry.extra ?? Buffer.alloc(0) }));
    pieces.push(localHeader({ ...fields, ...entry.local }), data, entry.behind ?? Buffer.alloc(0));
  }
  pieces.push(parts.between ?? Buffer.alloc(0));
  const listAt = parts.listAt ?? length(pieces);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(parts.entries ?? entries.length, 8);
  end.writeUInt16LE(parts.entries ?? entries.length, 10);
  end.writeUInt32LE(parts.listBytes ?? length(list), 12);
  end.writeUInt32LE(listAt, 16);
  const comment = Buffer.from(parts.comment ?? "");
  end.writeUInt16LE(comment.length, 20);
  return Buffer.concat([...pieces, ...list, end, comment, parts.behind ?? Buffer.alloc(0)]);
}

function localHeader({
  flags,
  method,
  crc,
  compressed,
  size,
  name,
  extra = Buffer.alloc(0),
}: HeaderFields & { readonly extra?: Buffer }): Buffer {
  const header = Buffer.alloc(30);
  header.writeUInt32LE(0x04034b50, 0);
  header.writeUInt16LE(20, 4);
  writeFields(header, 6, { flags, method, crc, compressed, size });
  header.writeUInt16LE(name.length, 26);
  header.writeUInt16LE(extra.length, 28);
  return Buffer.concat([header, name, extra]);
}

/** An entry as a program writes it that cannot go back: its measures come behind its content. */
export function streamed(entry: ZipEntry, hasSignature = true): ZipEntry {
  const content = Buffer.from(entry.content ?? "");
  const data = entry.data ?? deflateRawSync(content);
  const measures = Buffer.alloc(16);
  [0x08074b50, crc32(content), data.length, content.length].forEach((value, at) =>
    measures.writeUInt32LE(value, at * 4),
  );
  const behind = hasSignature ? measures : measures.subarray(4);
  return { ...entry, method: 8, flags: 8, data, behind, local: { crc: 0, compressed: 0, size: 0, ...entry.local } };
}

function listed(
  { name, ...fields }: HeaderFields,
  { at, attributes, extra }: { at: number; attributes: number; extra: Buffer },
): Buffer {
  const header = Buffer.alloc(46);
  header.writeUInt32LE(0x02014b50, 0);
  header.writeUInt16LE(0x0314, 4);
  header.writeUInt16LE(20, 6);
  writeFields(header, 8, fields);
  header.writeUInt16LE(name.length, 28);
  header.writeUInt16LE(extra.length, 30);
  header.writeUInt32LE(attributes, 38);
  header.writeUInt32LE(at, 42);
  return Buffer.concat([header, name, extra]);
}

function writeFields(
  header: Buffer,
  at: number,
  { flags, method, crc, compressed, size }: Omit<HeaderFields, "name">,
): void {
  header.writeUInt16LE(flags, at);
  header.writeUInt16LE(method, at + 2);
  header.writeUInt32LE(0x21 * 65_536, at + 4);
  header.writeUInt32LE(crc, at + 8);
  header.writeUInt32LE(compressed, at + 12);
  header.writeUInt32LE(size, at + 16);
}
