/** Reads a user's memory for display: indexes and entries of all plugins that have tools with these roles. */
import type { EntryOrigin } from "../../shared/entry-origin.ts";
import type { FieldsOf } from "../../shared/known-fields.ts";
import type { Role, SearchOutput } from "../../shared/roles.ts";
import { presentValue } from "../../shared/text.ts";
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
import { joinedIndex } from "./joined-index.ts";
import { leaveOutOf } from "./leave-out.ts";
import type { LeaveOut } from "./leave-out.ts";
import type {
  AddedEntry,
  EntriesChoice,
  EntryName,
  EntryText,
  FamilyChoice,
  FoundEntry,
  MemoryEntry,
  NewEntry,
  SearchChoice,
} from "./memory-families.ts";
import { answerIn, promptAnswer } from "./prompt-answer.ts";
import type { PromptAnswer } from "./prompt-answer.ts";
import { promptIndex } from "./prompt-index.ts";

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
  readonly choice: (FamilyChoice & Partial<Pick<SearchChoice, "limit">>) | null | undefined;
}

/** By role. An entry of a list can be read as it is, and so can one that was found or added. */
const choiceFields = {
  index: { family: true } satisfies FieldsOf<FamilyChoice>,
  entries: { family: true, forPrompt: true } satisfies FieldsOf<EntriesChoice>,
  read: {
    family: true,
    name: true,
    description: true,
    origins: true,
    snippet: true,
    path: true,
  } satisfies FieldsOf<FoundEntry & AddedEntry>,
  search: { family: true, query: true, limit: true } satisfies FieldsOf<SearchChoice>,
  add: { family: true, text: true, name: true } satisfies FieldsOf<NewEntry>,
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

  /** In the order of each plugin, which no other plugin's can be compared with: they take turns. */
  search(ctx: CallContext, choice: SearchChoice): Promise<FoundEntry[]> {
    return this.#answer("search", "search the entries", { ctx, choice }, async ({ tools, context, leaveOut }) => {
      const all: FoundEntry[][] = [];
      for (const found of tools) {
        try {
          const answer = answerIn("search", found, await this.#call(found, { query: choice.query }, context));
          all.push(listedEntries(found, answer));
        } catch (error) {
          leaveOut(found, error);
        }
      }
      return inTurn(all).slice(0, choice.limit);
    });
  }

  add(ctx: CallContext, choice: NewEntry): Promise<AddedEntry> {
    return this.#answer("add", "add an entry", { ctx, choice }, async ({ tools: [found], context }) => {
      const { text, name: given } = choice;
      const result = await this.#call(found, { text, ...(given !== undefined && { name: given }) }, context);
      const { name, path } = roleAnswer("add", found.tool.name, result);
      return { family: found.family, name, path };
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
      const mayMiss = role === "index" || role === "entries";
      if (!mayMiss || (choice !== null && choice !== undefined))
        refuseOthers<object>(action, choice as object, choiceFields[role]);
      checkLimit(choice, action);
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
    if ((role === "read" || role === "add") && others.length > 0) throw severalHave([first, ...others], action);
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

function checkLimit(choice: Asked["choice"], action: string): void {
  const limit = choice?.limit;
  if (limit === undefined || (Number.isSafeInteger(limit) && limit > 0)) return;
  const issue = { field: "limit", value: presentValue(limit), allowed: "a whole number from 1" };
  const message = `Cannot ${action}: limit is ${issue.value}; expected ${issue.allowed}`;
  throw new ToolError("INPUT_INVALID", message, { issues: [issue] });
}

function severalHave(tools: readonly CatalogTool[], action: string): ToolError {
  const allowed = tools.map(({ family }) => `"${family}"`).join(" or ");
  return new ToolError("INPUT_INVALID", `Cannot ${action}: family is missing, allowed: ${allowed}`, {
    issues: [{ field: "family", value: "missing", allowed }],
  });
}

/** The entries that a plugin has listed or found, each with its origins. */
function listedEntries(
  { family }: CatalogTool,
  { data: { entries }, origins }: PromptAnswer<"entries" | "search">,
): FoundEntry[] {
  const names = new Set(entries.map(({ name }) => name));
  const [ofOne, ofAny] = [new Map<string, EntryOrigin[]>(), [] as EntryOrigin[]];
  for (const origin of origins) {
    if (isOfOne(origin, names)) ofOne.set(origin.name, [...(ofOne.get(origin.name) ?? []), origin]);
    else ofAny.push(origin);
  }
  return entries.map(({ name, description, snippet }: SearchOutput["entries"][number]) => {
    const own = [...(ofOne.get(name) ?? []), ...ofAny];
    const said = { family, name, description, ...(snippet !== undefined && { snippet }) };
    return { ...said, ...(own.length > 0 && { origins: own }) };
  });
}

/** The first of each list, then the second of each. */
function inTurn<Item>(lists: readonly (readonly Item[])[]): Item[] {
  const longest = Math.max(0, ...lists.map(({ length }) => length));
  return Array.from({ length: longest }, (_, at) => lists.flatMap((list) => list.slice(at, at + 1))).flat();
}

/** A file that no entry is named after can have any of them, also one whose path has `_.` in it. */
const isOfOne = ({ name, path }: EntryOrigin, names: ReadonlySet<string>): boolean =>
  names.has(name) && !path.includes("_.");
