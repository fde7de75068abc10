/** `TextEncoder` and `TextDecoder` for UTF-8, which the engine does not have. */

/** Strings to UTF-8; a lone surrogate becomes U+FFFD, as the standard says. */
export class textEncoder {
  readonly encoding = "utf-8";

  encode(text = ""): Uint8Array {
    const bytes: number[] = [];
    for (const character of text) {
      const point = character.codePointAt(0) ?? 0;
      encodePoint(point >= 0xd800 && point <= 0xdfff ? 0xfffd : point, bytes);
    }
    return Uint8Array.from(bytes);
  }
}

function encodePoint(point: number, to: number[]): void {
  if (point < 0x80) to.push(point);
  else if (point < 0x800) to.push(0xc0 | (point >> 6), continuation(point, 0));
  else if (point < 0x10000) to.push(0xe0 | (point >> 12), continuation(point, 6), continuation(point, 0));
  else to.push(0xf0 | (point >> 18), continuation(point, 12), continuation(point, 6), continuation(point, 0));
}

const continuation = (point: number, shift: number): number => 0x80 | ((point >> shift) & 0x3f);

/** UTF-8 to strings; a malformed sequence becomes U+FFFD. */
export class textDecoder {
  readonly encoding = "utf-8";

  decode(bytes: Uint8Array | ArrayBuffer = new Uint8Array()): string {
    const source = bytes instanceof Uint8Array ? bytes : new Uint8Array(bytes);
    const parts: string[] = [];
    for (let at = 0; at < source.length;) {
      const { point, length } = decodePoint(source, at);
      parts.push(String.fromCodePoint(point));
      at += length;
    }
    return parts.join("");
  }
}

function decodePoint(source: Uint8Array, at: number): { point: number; length: number } {
  const first = source[at] ?? 0;
  if (first < 0x80) return { point: first, length: 1 };
  const length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  const malformed = { point: 0xfffd, length: 1 };
  if (first < 0xc2 || first > 0xf4) return malformed;
  let point = first & (0x7f >> length);
  for (let next = 1; next < length; next++) {
    const byte = source[at + next];
    if (byte === undefined || (byte & 0xc0) !== 0x80) return malformed;
    point = (point << 6) | (byte & 0x3f);
  }
  const smallest = [0, 0, 0x80, 0x800, 0x10000][length] ?? 0;
  const isSurrogate = point >= 0xd800 && point <= 0xdfff;
  return point < smallest || isSurrogate || point > 0x10ffff ? malformed : { point, length };
}
