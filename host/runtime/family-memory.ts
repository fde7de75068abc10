/** What a host shows of a user's memory: indexes and entries of all plugins that have any, by the roles of their tools. */
import type { Role } from "../../shared/roles.ts";
import type { LogEntry } from "../log/log-entry.ts";
import type { CatalogTool, LoadedTools } from "../plugins/loaded-tools.ts";
import { unknownRole } from "../plugins/loaded-tools.ts";
import { readContext } from "../values/call-context.ts";
import type { AskedContext, CallContext } from "../values/call-context.ts";
import { roleAnswer } from "../values/role-answer.ts";
import type { RoleInput, RoleOutput } from "../values/role-answer.ts";
import { ToolError } from "../values/tool-error.ts";
import type { ToolResult } from "../values/tool-result.ts";
import { joinedIndex } from "./joined-index.ts";
import { leaveOutOf } from "./leave-out.ts";
import type { EntryName, EntryText, MemoryEntry } from "./memory-families.ts";

interface FamilyMemoryParts {
  readonly call: (found: CatalogTool, input: unknown, ctx: AskedContext) => Promise<ToolResult>;
  readonly onLog: (entry: LogEntry) => void;
}

export class FamilyMemory {
  readonly #tools: LoadedTools;
  readonly #parts: FamilyMemoryParts;

  constructor(tools: LoadedTools, parts: FamilyMemoryParts) {
    this.#tools = tools;
    this.#parts = parts;
  }

  async index(ctx: CallContext, family: string | undefined): Promise<string> {
    const context = readContext(ctx);
    const tools = this.#withRole("index", family, "tell the index");
    const leaveOut = leaveOutOf(tools, context, this.#parts.onLog);
    return await joinedIndex(tools, (found, input) => this.#ask("index", found, input, context), leaveOut);
  }

  async entries(ctx: CallContext, family: string | undefined): Promise<MemoryEntry[]> {
    const context = readContext(ctx);
    const tools = this.#withRole("entries", family, "list the entries");
    const leaveOut = leaveOutOf(tools, context, this.#parts.onLog);
    const all: MemoryEntry[] = [];
    for (const found of tools) {
      try {
        const { entries } = await this.#ask("entries", found, {}, context);
        for (const { name, description } of entries) all.push({ family: found.family, name, description });
      } catch (error) {
        leaveOut(found, error);
      }
    }
    return all;
  }

  async read({ family, name }: EntryName, ctx: CallContext): Promise<EntryText> {
    const [found, ...others] = this.#withRole("read", family, "read the entry");
    if (others.length > 0) throw severalRead([found, ...others]);
    return await this.#ask("read", found, { name }, readContext(ctx));
  }

  async #ask<Of extends Role>(
    role: Of,
    found: CatalogTool,
    input: RoleInput<Of>,
    context: AskedContext,
  ): Promise<RoleOutput<Of>> {
    return roleAnswer(role, found.tool.name, await this.#parts.call(found, input, context));
  }

  /** Throws `TOOL_UNKNOWN` when there is none. */
  #withRole(role: Role, family: string | undefined, action: string): [CatalogTool, ...CatalogTool[]] {
    const tools = this.#tools.withRole(role);
    const [first, ...others] = family === undefined ? tools : tools.filter((found) => found.family === family);
    if (first === undefined) throw unknownRole(action, role, family);
    return [first, ...others];
  }
}

function severalRead(tools: readonly CatalogTool[]): ToolError {
  const allowed = tools.map(({ family }) => `"${family}"`).join(" or ");
  return new ToolError("INPUT_INVALID", `Cannot read the entry: family is missing, allowed: ${allowed}`, {
    issues: [{ field: "family", value: "missing", allowed }],
  });
}
