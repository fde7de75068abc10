import type { NoUtf8 } from "../kit/capabilities.ts";
import { damaged, whyDamaged } from "../kit/file-text.ts";
import { ToolError } from "../kit/tool-error.ts";
import type { Unreadable } from "./entry-file.ts";

/** For a file that a person has to look at. `shown`: its path for the caller. */
export const unreadable = (action: string, shown: string, reason: string): ToolError =>
  new ToolError("ENTRY_UNREADABLE", `Cannot ${action} ${shown}: a file is there, but ${reason}`);

/** A link, say, which no listing has. */
export const noPlainFile: Unreadable = { unreadable: "it is no plain file" };

/** Text of another encoding, such as UTF-16, is read; of other bytes, a person has to say what they mean. */
export function textOfOther({ readable }: NoUtf8): string | Unreadable {
  if (readable !== null && !damaged.test(readable)) return readable;
  return { unreadable: whyDamaged(readable), isNoText: true };
}
