/** The bytes of a stream, or `null` as soon as there are more than allowed: then nothing more of it is read. */
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
