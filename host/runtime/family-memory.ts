/** What a host shows of a user's memory: indexes and entries of all plugins that have any, by the roles of their tools. */
import type { Role } from "../../shared/roles.ts";
import type { CatalogTool, LoadedTools } from "../plugins/loaded-tools.ts";
import { unknownRole } from "../plugins/loaded-tools.ts";
import type { CallContext } from "../values/call-context.ts";
import { roleAnswer } from "../values/role-answer.ts";
import type { RoleInput, RoleOutput } from "../values/role-answer.ts";
import type { ToolResult } from "../values/tool-result.ts";
import { joinedIndex } from "./joined-index.ts";
import type { EntryName, EntryText, MemoryEntry } from "./memory-families.ts";

type CallFound = (found: CatalogTool, input: unknown, ctx: CallContext) => Promise<ToolResult>;

export class FamilyMemory {
  readonly #tools: LoadedTools;
  readonly #call: CallFound;

  constructor(tools: LoadedTools, call: CallFound) {
    this.#tools = tools;
    this.#call = call;
  }

  async index(ctx: CallContext, family: string | undefined): Promise<string> {
    const same = readOnce(ctx);
    const tools = this.#withRole("index", family, "tell the index");
    return await joinedIndex(tools, (found, input) => this.#ask("index", found, input, same));
  }

  async entries(ctx: CallContext, family: string | undefined): Promise<MemoryEntry[]> {
    const same = readOnce(ctx);
    const all: MemoryEntry[] = [];
    for (const found of this.#withRole("entries", family, "list the entries")) {
      const { entries } = await this.#ask("entries", found, {}, same);
      for (const { name, description } of entries) all.push({ family: found.family, name, description });
    }
    return all;
  }

  async read({ family, name }: EntryName, ctx: CallContext): Promise<EntryText> {
    const [found] = this.#withRole("read", family, "read the entry");
    return await this.#ask("read", found, { name }, ctx);
  }

  async #ask<Of extends Role>(
    role: Of,
    found: CatalogTool,
    input: RoleInput<Of>,
    ctx: CallContext,
  ): Promise<RoleOutput<Of>> {
    return roleAnswer(role, found.tool.name, await this.#call(found, input, ctx));
  }

  /** Throws `TOOL_UNKNOWN` when there is none. */
  #withRole(role: Role, family: string | undefined, action: string): [CatalogTool, ...CatalogTool[]] {
    const tools = this.#tools.withRole(role);
    const [first, ...others] = family === undefined ? tools : tools.filter((found) => found.family === family);
    if (first === undefined) throw unknownRole(action, role, family);
    return [first, ...others];
  }
}

/** For what makes several calls: all of them are for the same user, whatever the caller does to its context meanwhile. */
function readOnce(ctx: CallContext): CallContext {
  // Callers without types may pass anything; each call says what is wrong with it.
  const asked = ctx as CallContext | null | undefined;
  const { userId, signal, callId, labels } = asked ?? {};
  return { userId, signal, callId, labels } as CallContext;
}
