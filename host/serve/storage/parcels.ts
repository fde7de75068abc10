/** Splits a long list into parts that each fit into the input of a call. */

/** The input of a call has at most 512 KiB. The largest note takes 100 KiB, and as JSON at most six times as much. */
const bytesMax = 400 * 1024;
const linesMax = 100;

export interface Parcel {
  /** Where the part begins in the list. */
  readonly from: number;
  readonly some: readonly unknown[];
}

/** A line that is too large for any call is sent as `null`, which is refused where it stands. */
export function parcels(lines: readonly unknown[]): Parcel[] {
  const parts: { from: number; some: unknown[] }[] = [];
  let bytes = 0;
  for (const [at, line] of lines.entries()) {
    const size = Buffer.byteLength(JSON.stringify(line));
    const each = size > bytesMax ? null : line;
    const last = parts.at(-1);
    bytes += size;
    if (last === undefined || bytes > bytesMax || last.some.length >= linesMax) {
      parts.push({ from: at, some: [each] });
      bytes = size;
    } else {
      last.some.push(each);
    }
  }
  return parts;
}
