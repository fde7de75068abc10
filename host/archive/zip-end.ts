/** The last 22 bytes of a zip file, which say where its list of entries is. */
const endBytes = 22;
const endSignature = 0x06054b50;

export interface ZipEnd {
  readonly entries: number;
  readonly listAt: number;
}

/**
 * Reads the end only where it must be: a comment, or anything behind it, could be a second end for another program.
 * Returns why the end is invalid, as a clause about "the file".
 */
export function readZipEnd(bytes: Buffer): ZipEnd | string {
  const at = bytes.length - endBytes;
  if (at < 0 || bytes.readUInt32LE(at) !== endSignature)
    return "is no zip file, is incomplete, or has something after its end";
  const [disk, listDisk, onDisk, entries] = [4, 6, 8, 10].map((place) => bytes.readUInt16LE(at + place));
  const [listBytes, listAt] = [bytes.readUInt32LE(at + 12), bytes.readUInt32LE(at + 16)];
  if (disk !== 0 || listDisk !== 0 || entries === undefined || onDisk !== entries) return "is one part of a zip file";
  if (bytes.readUInt16LE(at + 20) !== 0) return "has a comment, which no export has";
  if (entries === 0xffff || listAt === 0xffffffff) return "is in the zip64 form, which no export is";
  if (listAt + listBytes !== at) return "has something before, between or behind its parts";
  return { entries, listAt };
}
