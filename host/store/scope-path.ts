/** What every store checks of a scope, a path and a text before it uses them: `shared/path.ts` has the grammar of the first two. */
import { isScopePath, scopeName } from "../../shared/path.ts";
import { quoted } from "../../shared/text.ts";
import { ToolError } from "../values/tool-error.ts";

/** Throws `CAPABILITY_DENIED` for what is no scope's name. */
export function checkedScope(scope: string): string {
  if (scopeName.test(scope)) return scope;
  throw new ToolError("CAPABILITY_DENIED", `Cannot use scope ${quoted(scope)}: no such scope`);
}

/** The folders of a path inside its scope, and its name last. Throws `CAPABILITY_DENIED` for what is none. */
export function segmentsOf(path: string): string[] {
  if (isScopePath(path)) return path.split("/");
  throw new ToolError("CAPABILITY_DENIED", `Cannot use path ${quoted(path)}: it is not a path inside a scope`);
}

/** Bytes to text without loss: what is not UTF-8 is `ENTRY_UNREADABLE`, and a byte order mark stays. */
export function decodeText(bytes: Uint8Array, shown: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    throw new ToolError("ENTRY_UNREADABLE", `Cannot read ${quoted(shown)}: it is not UTF-8 text`, { cause: error });
  }
}
