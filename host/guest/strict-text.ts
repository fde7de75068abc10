/** Bytes that are not UTF-8 give an empty text, which is not JSON. The SDK would insert replacement characters. */
export function strictText(bytes: ArrayBufferLike): string {
  try {
    // Without threads of its own, the SDK makes no shared buffers.
    return utf8.decode(bytes as ArrayBuffer);
  } catch {
    return "";
  }
}

/** Keeps a byte order mark, so that such a text is not JSON. */
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
