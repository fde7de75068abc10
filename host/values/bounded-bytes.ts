/** Reads the bytes of a stream. Stops reading and returns `null` as soon as there are more than `bytesMax`. */
export async function boundedBytes(
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  bytesMax: number,
): Promise<Buffer | null> {
  const kept: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of chunks) {
    bytes += chunk.length;
    if (bytes > bytesMax) return null;
    kept.push(chunk);
  }
  return Buffer.concat(kept);
}
