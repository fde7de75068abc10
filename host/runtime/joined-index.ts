/** The indexes of all plugins as one text for a prompt. */
import { withoutHidden } from "../../shared/hidden-text.ts";
import { promptLimits } from "../../shared/limits.ts";
import { indexOriginLines } from "../../shared/origin-lines.ts";
import type { LineBounds } from "../../shared/origin-lines.ts";
import { utf8Bytes } from "../../shared/text.ts";
import type { CatalogTool } from "../plugins/tools.ts";
import type { RoleInput } from "../values/role-answer.ts";
import { ToolError } from "../values/tool-error.ts";
import type { LeaveOut } from "./leave-out.ts";
import type { PromptIndex } from "./prompt-index.ts";

type AskIndex = (found: CatalogTool, input: RoleInput<"index">) => Promise<PromptIndex>;

interface Size {
  readonly lines: number;
  readonly bytes: number;
}

const whole: Size = { lines: promptLimits.linesMax, bytes: promptLimits.bytesMax };

/**
 * A single family has the whole budget for the content of its frame. Several families share the budget, frames
 * included. If one of several fails, a line of the host takes its place.
 */
export async function joinedIndex(tools: readonly CatalogTool[], ask: AskIndex, leaveOut: LeaveOut): Promise<string> {
  const [only] = tools;
  if (only !== undefined && tools.length === 1) return await textOf(only, ask, null);
  const tell = async (found: CatalogTool, most: Size): Promise<string> => {
    try {
      return await textOf(found, ask, most);
    } catch (error) {
      // Shows no text of the plugin, not even a code that the plugin itself declares.
      return `(${found.family} could not be read: ${leaveOut(found, error).tableCode})\n`;
    }
  };
  const texts: string[] = [];
  for (const found of tools) texts.push(await tell(found, whole));
  // A plugin without an index takes no space from the others.
  if (texts.filter((text) => text !== "").length < 2) return texts.join("");
  const sizes = texts.map(sizeOf);
  const lines = fairShares(
    whole.lines,
    sizes.map((size) => size.lines),
  );
  const bytes = fairShares(
    whole.bytes,
    sizes.map((size) => size.bytes),
  );
  for (const [at, found] of tools.entries()) {
    const [size, share] = [sizes[at] ?? whole, { lines: lines[at] ?? 0, bytes: bytes[at] ?? 0 }];
    if (size.lines > share.lines || size.bytes > share.bytes) texts[at] = await tell(found, withoutFrame(share));
  }
  return fitting(texts);
}

/**
 * A plugin's index, with the host's lines about origins behind its frame. They are part of the content: if both do not fit,
 * the plugin is asked again.
 */
async function textOf(found: CatalogTool, ask: AskIndex, most: Size | null): Promise<string> {
  const index = await ask(found, most === null ? {} : { linesMax: most.lines, bytesMax: most.bytes });
  const text = usableText(found, index, most ?? whole);
  const isWhole = most !== null || index.origins.length > 0;
  const lines = text === "" ? "" : indexOriginLines(index.origins, labelBounds(most ?? whole));
  if (lines === "" || fits(text, lines, most ?? whole)) return (isWhole ? withLineEnd(text) : text) + lines;
  const [{ lines: linesMax, bytes: bytesMax }, size] = [most ?? whole, sizeOf(lines)];
  const less = { lines: Math.max(0, linesMax - size.lines), bytes: Math.max(0, bytesMax - size.bytes) };
  const shorter = await ask(found, { linesMax: less.lines, bytesMax: less.bytes });
  const bounds = { linesMax: size.lines, bytesMax: size.bytes };
  return withLineEnd(usableText(found, shorter, less)) + indexOriginLines(shorter.origins, bounds);
}

/** A part of the content: 16 lines and 4,166 bytes if a family has all of it. */
const labelBounds = ({ lines, bytes }: Size): LineBounds => ({
  linesMax: Math.max(1, Math.floor(lines / 12)),
  bytesMax: Math.floor(bytes / 6),
});

function usableText(found: CatalogTool, index: PromptIndex, { lines: linesMax, bytes: bytesMax }: Size): string {
  const text = withoutHidden(index.text.replace(otherLineEnds, " "));
  const { lines, bytes } = sizeOf(text);
  if (lines <= linesMax + promptLimits.frameLinesMax && bytes <= bytesMax + promptLimits.frameBytesMax) return text;
  const present = `its index has ${lines} lines and ${bytes} bytes, asked for were ${linesMax} and ${bytesMax}`;
  throw new ToolError("OUTPUT_INVALID", `Cannot use the answer of ${found.tool.name}: ${present}`);
}

function fits(text: string, lines: string, most: Size): boolean {
  const [frame, labels] = [sizeOf(withLineEnd(text)), sizeOf(lines)];
  const { frameLinesMax, frameBytesMax } = promptLimits;
  return (
    frame.lines + labels.lines <= most.lines + frameLinesMax && frame.bytes + labels.bytes <= most.bytes + frameBytesMax
  );
}

const withLineEnd = (text: string): string => (text === "" || text.endsWith("\n") ? text : `${text}\n`);

/** Characters that end a line for some readers but are not line feeds. Texts that people write can contain them. */
const otherLineEnds = /\r(?!\n)|[\v\f\u0085\u2028\u2029]/g;

/** The frames alone can exceed the budget. Keeps as many texts as fit; a last line counts the others. */
function fitting(texts: readonly string[]): string {
  const all = texts.join("");
  const { lines, bytes } = sizeOf(all);
  if (lines <= whole.lines && bytes <= whole.bytes) return all;
  const left = { lines: whole.lines - 1, bytes: whole.bytes - countBytesMax };
  const shown = texts.filter((text) => {
    const size = sizeOf(text);
    if (size.lines > left.lines || size.bytes > left.bytes) return false;
    left.lines -= size.lines;
    left.bytes -= size.bytes;
    return true;
  });
  const hidden = texts.length - shown.length;
  return `${shown.join("")}(${hidden} more ${hidden === 1 ? "index is" : "indexes are"} not shown)\n`;
}

const countBytesMax = 100;

const sizeOf = (text: string): Size => ({ lines: text.split("\n").length - 1, bytes: utf8Bytes(text) });

const withoutFrame = ({ lines, bytes }: Size): Size => ({
  lines: Math.max(0, lines - promptLimits.frameLinesMax),
  bytes: Math.max(0, bytes - promptLimits.frameBytesMax),
});

/**
 * Divides a total that is too small for all needs. A need below an equal share is met in full, and the others get equal
 * parts of the rest. Whole numbers, rounded down. If all needs fit, all are met.
 *
 * @example
 * fairShares(100, [10, 60, 70]); // [10, 45, 45]
 */
function fairShares(total: number, needs: readonly number[]): number[] {
  const shares: number[] = needs.map(() => 0);
  let left = total;
  const smallestFirst = [...needs.entries()].toSorted(([, a], [, b]) => a - b);
  for (const [rank, [at, need]] of smallestFirst.entries()) {
    const share = Math.min(need, Math.floor(left / (needs.length - rank)));
    shares[at] = share;
    left -= share;
  }
  return shares;
}
