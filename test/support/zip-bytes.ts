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

const u16 = (value: number): Buffer => Buffer.from([value & 0xff, value >> 8]);

function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

export function zipBytes(entries: readonly ZipEntry[], parts: ZipParts = {}): Buffer {
  let bytes = parts.before ?? Buffer.alloc(0);
  const list: Buffer[] = [];
  for (const entry of entries) {
    const content = Buffer.from(entry.content ?? "");
    const method = entry.method ?? 0;
    const data = entry.data ?? (method === 8 ? deflateRawSync(content) : content);
    const { flags = 0, crc = crc32(content), compressed = data.length, size = content.length } = entry;
    const fields: HeaderFields = { flags, method, crc, compressed, size, name: Buffer.from(entry.name) };
    const { offset = bytes.length, attributes = 0, extra, behind = Buffer.alloc(0) } = entry;
    list.push(listed({ ...fields, extra }, attributes, offset));
    bytes = Buffer.concat([bytes, localHeader({ ...fields, ...entry.local }), data, behind]);
  }
  bytes = Buffer.concat([bytes, parts.between ?? Buffer.alloc(0)]);
  const listBytes = u32(parts.listBytes ?? Buffer.concat(list).length);
  const count = u16(parts.entries ?? entries.length);
  const comment = Buffer.from(parts.comment ?? "");
  const end = [
    u32(0x06054b50),
    u32(0),
    count,
    count,
    listBytes,
    u32(parts.listAt ?? bytes.length),
    u16(comment.length),
  ];
  return Buffer.concat([bytes, ...list, ...end, comment, parts.behind ?? Buffer.alloc(0)]);
}

type Fields = HeaderFields & { readonly extra?: Buffer | undefined };

function localHeader(fields: Fields): Buffer {
  const { name, extra = Buffer.alloc(0) } = fields;
  return Buffer.concat([
    u32(0x04034b50),
    u16(20),
    ...measuresOf(fields),
    u16(name.length),
    u16(extra.length),
    name,
    extra,
  ]);
}

function listed(fields: Fields, attributes: number, at: number): Buffer {
  const { name, extra = Buffer.alloc(0) } = fields;
  const start = [u32(0x02014b50), u16(0x0314), u16(20), ...measuresOf(fields), u16(name.length), u16(extra.length)];
  return Buffer.concat([...start, Buffer.alloc(6), u32(attributes), u32(at), name, extra]);
}

const measuresOf = ({ flags, method, crc, compressed, size }: HeaderFields): Buffer[] => {
  const time = u32(0x21 * 65_536);
  return [u16(flags), u16(method), time, u32(crc), u32(compressed), u32(size)];
};

/** An entry as a program writes it that cannot go back: its measures come behind its content. */
export function streamed(entry: ZipEntry, hasSignature = true): ZipEntry {
  const content = Buffer.from(entry.content ?? "");
  const { method = 8, flags = 0 } = entry;
  const data = entry.data ?? (method === 8 ? deflateRawSync(content) : content);
  const measures = [u32(crc32(content)), u32(data.length), u32(content.length)];
  const behind = Buffer.concat([...(hasSignature ? [u32(0x08074b50)] : []), ...measures]);
  const local = { crc: 0, compressed: 0, size: 0, ...entry.local };
  return { ...entry, method, flags: flags | 8, data, behind, local };
}

/** A field that a program adds to an entry's header. */
export const extraField = (id: number, data: Buffer): Buffer => Buffer.concat([u16(id), u16(data.length), data]);

/** An entry's name in Unicode, beside one of which the given name is the bytes. */
export const unicodeName = (name: string, beside: string | Buffer): Buffer =>
  extraField(0x7075, Buffer.concat([Buffer.from([1]), u32(crc32(beside)), Buffer.from(name)]));
