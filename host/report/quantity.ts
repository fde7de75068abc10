const kib = 1024;
const mib = 1024 * kib;

/** A size in the largest unit that loses nothing. */
export function bytesText(bytes: number): string {
  if (bytes % mib === 0) return `${bytes / mib} MiB`;
  if (bytes % kib === 0) return `${bytes / kib} KiB`;
  return bytes === 1 ? "1 byte" : `${bytes} bytes`;
}

/** As `bytesText`. */
export function durationText(ms: number): string {
  return ms % 1_000 === 0 ? `${ms / 1_000} s` : `${ms} ms`;
}
