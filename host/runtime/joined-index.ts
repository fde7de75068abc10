/** The indexes of all families as one text for a prompt: in the order of the plugins, each framed by its family. */
import { promptLimits } from "../../shared/limits.ts";
import type { IndexOutput } from "../../shared/roles.ts";
import { utf8Bytes } from "../../shared/text.ts";
import type { CatalogTool } from "../plugins/loaded-tools.ts";
import type { RoleInput } from "../values/role-answer.ts";
import { ToolError } from "../values/tool-error.ts";
import { fairShares } from "./fair-shares.ts";

export type AskIndex = (found: CatalogTool, input: RoleInput<"index">) => Promise<IndexOutput>;

interface Size {
  readonly lines: number;
  readonly bytes: number;
}

const whole: Size = { lines: promptLimits.linesMax, bytes: promptLimits.bytesMax };

/** One family alone has the whole budget for what stands in its frame; several have it for all that they say. */
export async function joinedIndex(tools: readonly CatalogTool[], ask: AskIndex): Promise<string> {
  const [only] = tools;
  if (only !== undefined && tools.length === 1) return await textOf(only, ask, null);
  const texts: string[] = [];
  for (const found of tools) texts.push(await textOf(found, ask, whole));
  // Who has nothing to say takes no room from another one's frame.
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
    if (size.lines > share.lines || size.bytes > share.bytes) texts[at] = await textOf(found, ask, withoutFrame(share));
  }
  return texts.join("");
}

async function textOf(found: CatalogTool, ask: AskIndex, most: Size | null): Promise<string> {
  const input = most === null ? {} : { linesMax: most.lines, bytesMax: most.bytes };
  const { text } = await ask(found, input);
  const { lines, bytes } = sizeOf(text);
  const { lines: linesMax, bytes: bytesMax } = most ?? whole;
  if (lines > linesMax + promptLimits.frameLinesMax || bytes > bytesMax + promptLimits.frameBytesMax) {
    const present = `its index has ${lines} lines and ${bytes} bytes, asked for were ${linesMax} and ${bytesMax}`;
    throw new ToolError("OUTPUT_INVALID", `Cannot use the answer of ${found.tool.name}: ${present}`);
  }
  return most === null || text === "" || text.endsWith("\n") ? text : `${text}\n`;
}

const sizeOf = (text: string): Size => ({ lines: text.split("\n").length - 1, bytes: utf8Bytes(text) });

const withoutFrame = ({ lines, bytes }: Size): Size => ({
  lines: Math.max(0, lines - promptLimits.frameLinesMax),
  bytes: Math.max(0, bytes - promptLimits.frameBytesMax),
});
