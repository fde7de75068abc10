/** Reads a user's memory for display: indexes and entries of all plugins that have tools with these roles. */
import type { EntryOrigin } from "../../shared/entry-origin.ts";
import { withoutHidden } from "../../shared/hidden-text.ts";
import type { FieldsOf } from "../../shared/known-fields.ts";
import { promptLimits } from "../../shared/limits.ts";
import { indexOriginLines } from "../../shared/origin-lines.ts";
import type { LineBounds } from "../../shared/origin-lines.ts";
import type { Role } from "../../shared/roles.ts";
import { utf8Bytes } from "../../shared/text.ts";
import type { Admission } from "../call/admission.ts";
import type { CallOptions } from "../call/asked-call.ts";
import type { CallRunner } from "../call/call.ts";
import type { LogEntry } from "../log/log-entry.ts";
import type { CatalogTool, LoadedTools } from "../plugins/tools.ts";
import { unknownRole } from "../plugins/tools.ts";
import { readContext } from "../values/call-context.ts";
import type { AskedContext, CallContext } from "../values/call-context.ts";
import { refuseOthers } from "../values/known-fields.ts";
import { roleAnswer } from "../values/role-answer.ts";
import type { RoleInput } from "../values/role-answer.ts";
import { ToolError, asToolError } from "../values/tool-error.ts";
import { errorOf } from "../values/tool-result.ts";
import type { ToolResult } from "../values/tool-result.ts";
import { leaveOutOf } from "./leave-out.ts";
import type { LeaveOut } from "./leave-out.ts";
import type { EntriesChoice, EntryName, EntryText, FamilyChoice, MemoryEntry } from "./memory-families.ts";
import { answerIn, promptAnswer } from "./prompt-answer.ts";
import type { PromptAnswer } from "./prompt-answer.ts";
import { promptIndex } from "./prompt-index.ts";
import type { PromptIndex } from "./prompt-index.ts";

interface FamilyMemoryParts {
  readonly admission: Admission;
  readonly runner: CallRunner;
  readonly onLog: (entry: LogEntry) => void;
  /** All tools that the policy leaves, also in a view that may change nothing. */
  readonly menders: LoadedTools;
}

/** A request to one or more plugins on behalf of one user. */
interface Question {
  readonly tools: readonly [CatalogTool, ...CatalogTool[]];
  readonly context: AskedContext;
  readonly leaveOut: LeaveOut;
}

/** Callers without types can pass anything. */
interface Asked {
  readonly ctx: CallContext;
  readonly choice: FamilyChoice | null | undefined;
}

/** By role. An entry of a list can be read as it is. */
const choiceFields = {
  index: { family: true } satisfies FieldsOf<FamilyChoice>,
  entries: { family: true, forPrompt: true } satisfies FieldsOf<EntriesChoice>,
  read: { family: true, name: true, description: true, origins: true } satisfies FieldsOf<MemoryEntry>,
} as const;

export class FamilyMemory {
  readonly #tools: LoadedTools;
  readonly #parts: FamilyMemoryParts;

  constructor(tools: LoadedTools, parts: FamilyMemoryParts) {
    this.#tools = tools;
    this.#parts = parts;
  }

  index(ctx: CallContext, choice?: FamilyChoice): Promise<string> {
    return this.#answer("index", "read the index", { ctx, choice }, ({ tools, context, leaveOut }) =>
      joinedIndex(
        tools,
        async (found, input) => promptIndex(found, await this.#forPrompt("index", found, input, context)),
        leaveOut,
      ),
    );
  }

  entries(ctx: CallContext, choice?: EntriesChoice): Promise<MemoryEntry[]> {
    const isForPrompt = choice?.forPrompt === true;
    return this.#answer("entries", "list the entries", { ctx, choice }, async (question) => {
      const { tools, context, leaveOut } = question;
      const all: MemoryEntry[] = [];
      for (const found of tools) {
        try {
          const answer = isForPrompt
            ? await this.#forPrompt("entries", found, {}, context)
            : answerIn("entries", found, await this.#call(found, {}, context));
          if (answer !== null) all.push(...listedEntries(found, answer));
        } catch (error) {
          leaveOut(found, error);
        }
      }
      return all;
    });
  }

  read(entry: EntryName, ctx: CallContext): Promise<EntryText> {
    return this.#answer("read", "read the entry", { ctx, choice: entry }, async ({ tools: [found], context }) => {
      const result = await this.#call(found, { name: entry.name }, context);
      // No plugin says where an entry comes from.
      const { origins: _ofPlugin, ...text } = roleAnswer("read", found.tool.name, result) as EntryText;
      const origins = result.ok ? result.origins : undefined;
      return { ...text, ...(origins && { origins }) };
    });
  }

  #forPrompt<Of extends "index" | "entries">(
    role: Of,
    found: CatalogTool,
    input: RoleInput<Of>,
    ctx: AskedContext,
  ): Promise<PromptAnswer<Of> | null> {
    const { menders } = this.#parts;
    return promptAnswer(role, found, input, { call: (tool, asked, of) => this.#call(tool, asked, ctx, of), menders });
  }

  /** One answer can take several calls. The runtime stays open until the last one has ended. */
  async #answer<Result>(
    role: keyof typeof choiceFields,
    action: string,
    { ctx, choice }: Asked,
    work: (question: Question) => Promise<Result>,
  ): Promise<Result> {
    const { admission, onLog } = this.#parts;
    using _arrived = admission.arrive();
    const context = readContext(ctx);
    let tools: Question["tools"];
    try {
      admission.checkOpen(action);
      if (choice !== null && choice !== undefined) refuseOthers<object>(action, choice, choiceFields[role]);
      tools = this.#withRole(role, action, familyIn(choice, action));
    } catch (error) {
      throw await this.#refused(action, context, error);
    }
    return await work({ tools, context, leaveOut: leaveOutOf(tools, context, onLog) });
  }

  async #call(found: CatalogTool, input: unknown, ctx: AskedContext, options: CallOptions = {}): Promise<ToolResult> {
    const { name } = found.tool;
    const asked = { toolName: name, action: `call ${name}`, find: () => found, caller: "host" as const, input, ctx };
    return (await this.#parts.runner.call(asked, options)).result;
  }

  /** Throws `TOOL_UNKNOWN` if no plugin has the role, and `INPUT_INVALID` if `family` must choose one of several. */
  #withRole(role: Role, action: string, family: string | undefined): Question["tools"] {
    const tools = this.#tools.withRole(role);
    const [first, ...others] = family === undefined ? tools : tools.filter((found) => found.family === family);
    if (first === undefined) {
      const hint = family === undefined ? undefined : this.#tools.notLoaded.hintForPlugin(family);
      throw unknownRole(action, role, { family, hint });
    }
    if (role === "read" && others.length > 0) throw severalRead([first, ...others]);
    return [first, ...others];
  }

  /** Records the refusal like a call that found no tool. */
  async #refused(action: string, ctx: AskedContext, error: unknown): Promise<ToolError> {
    const find = (): never => {
      throw error;
    };
    const { result } = await this.#parts.runner.call({
      toolName: null,
      action,
      find,
      caller: "host" as const,
      input: {},
      ctx,
    });
    return result.ok ? asToolError(error, action) : errorOf(result);
  }
}

function familyIn(choice: FamilyChoice | null | undefined, action: string): string | undefined {
  const family: unknown = choice?.family;
  if (family === undefined || typeof family === "string") return family;
  const issues = [{ field: "family", value: `of type ${typeof family}`, allowed: "a plugin's name or nothing" }];
  const message = `Cannot ${action}: family is of type ${typeof family}, allowed: a plugin's name or nothing`;
  throw new ToolError("INPUT_INVALID", message, { issues });
}

function severalRead(tools: readonly CatalogTool[]): ToolError {
  const allowed = tools.map(({ family }) => `"${family}"`).join(" or ");
  return new ToolError("INPUT_INVALID", `Cannot read the entry: family is missing, allowed: ${allowed}`, {
    issues: [{ field: "family", value: "missing", allowed }],
  });
}

/** The entries that a plugin has listed, each with its origins. */
function listedEntries(
  { family }: CatalogTool,
  { data: { entries }, origins }: PromptAnswer<"entries">,
): MemoryEntry[] {
  const names = new Set(entries.map(({ name }) => name));
  const [ofOne, ofAny] = [new Map<string, EntryOrigin[]>(), [] as EntryOrigin[]];
  for (const origin of origins) {
    if (isOfOne(origin, names)) ofOne.set(origin.name, [...(ofOne.get(origin.name) ?? []), origin]);
    else ofAny.push(origin);
  }
  return entries.map(({ name, description }) => {
    const own = [...(ofOne.get(name) ?? []), ...ofAny];
    return { family, name, description, ...(own.length > 0 && { origins: own }) };
  });
}

/** A file that no entry is named after can have any of them, also one whose path has `_.` in it. */
const isOfOne = ({ name, path }: EntryOrigin, names: ReadonlySet<string>): boolean =>
  names.has(name) && !path.includes("_.");

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
