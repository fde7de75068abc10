import { DataFields } from "../data-map.ts";
import type { DataMap, Forms } from "../data-map.ts";

/** A block of a model's reasoning, for exact replay. */
export interface ThinkingData {
  readonly text?: string;
  /** The provider's signature of the text. Default: none. */
  readonly signature?: string;
  /** Reasoning that only the provider can read. `ReadRunHistory` never returns it. Default: none. */
  readonly redacted?: Uint8Array;
  /** The index of the provider's content block. */
  readonly contentIndex: number;
  /** Whether the provider has completed the block. */
  readonly final: boolean;
}

export function readThinking(data: unknown, forms: Forms): Required<ThinkingData> {
  const fields = new DataFields("thinking", data, forms);
  return {
    text: fields.text("text"),
    signature: fields.text("signature"),
    redacted: fields.bytes("redacted"),
    contentIndex: fields.int("content_index"),
    final: fields.flag("final"),
  };
}

/** `writeBase64`: bytes as standard base64 with padding. */
export function writeThinking(thinking: ThinkingData, writeBase64: (bytes: Uint8Array) => string): DataMap {
  const { text, signature, redacted, contentIndex, final } = thinking;
  return {
    ...(text && { text }),
    ...(signature && { signature }),
    ...(redacted && redacted.length > 0 && { redacted: writeBase64(redacted) }),
    content_index: contentIndex,
    final,
  };
}
