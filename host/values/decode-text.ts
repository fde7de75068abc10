import { quoted } from "../../shared/text.ts";
import { ToolError } from "./tool-error.ts";

/** Bytes to text without loss: what is not UTF-8 is `ENTRY_UNREADABLE`, and a byte order mark stays. */
export function decodeText(bytes: Uint8Array, shown: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    throw new ToolError("ENTRY_UNREADABLE", `Cannot read ${quoted(shown)}: it is not UTF-8 text`, { cause: error });
  }
}
