/**
 * The executor of a platform, with tools from MCP servers and from memcell, one of them of a plugin of its own. It calls
 * whatever a model asks for, and itself some tools by their names.
 */
import type { Client, Tool } from "@modelcontextprotocol/client";
import { modelAnswer } from "memcell";
import type { CallContext, CallOrigin, OriginClass, Runtime, ToolFailure, ToolInput, ToolOutput } from "memcell";
import type { MemorySearchOutput } from "memcell/plugins/journal";

/** Of the platform's own plugin. A build writes the same: `interface ToolTypes extends Tools {}` with its `Tools`. */
declare module "memcell" {
  interface ToolTypes {
    AddBook: { input: { title: string; pages?: number }; output: { shelf: number } };
  }
}

export interface ToolCall {
  readonly id: string;
  readonly name: string;
  readonly input: Record<string, unknown>;
}

export class Executor {
  readonly #runtime: Runtime;
  readonly #client: Client;

  constructor(runtime: Runtime, client: Client) {
    this.#runtime = runtime;
    this.#client = client;
  }

  /** With the agent's own instructions. */
  async system(task: string, ctx: CallContext): Promise<string> {
    return `${task}\n${this.#runtime.instructions()}\n${await this.#runtime.memoryIndex(ctx)}`;
  }

  /** What models are offered, in the form of MCP. */
  async tools(): Promise<Tool[]> {
    const { tools } = await this.#client.listTools();
    for (const { name, description, inputSchema, outputSchema } of this.#runtime.tools())
      tools.push({ name, description, inputSchema, outputSchema });
    return tools;
  }

  /** `name` is any text, so input and result are `unknown`. */
  async execute({ id, name, input }: ToolCall, ctx: CallContext): Promise<unknown> {
    if (!this.#runtime.tools().some((tool) => tool.name === name))
      return await this.#client.callTool({ name, arguments: input });
    return modelAnswer(await this.#runtime.call(name, input, { ...ctx, callId: id })).text;
  }

  /** Of a page that was read from the web. */
  async keep(body: string, page: URL, ctx: CallContext): Promise<boolean> {
    const seen: OriginClass[] = ["direct_user"];
    const origin: CallOrigin = { class: "tool_external", run: "run-7", source: page.href };
    const entry = { action: "upsert", name: "page", type: "reference", description: "A page", body } as const;
    return (await this.#runtime.call("UpdateUserMemory", entry, { ...ctx, origin, exposedTo: seen })).ok;
  }

  async remember(body: string, ctx: CallContext): Promise<"created" | "replaced" | "deleted"> {
    const entry: ToolInput<"UpdateUserMemory"> = {
      action: "upsert",
      name: "note",
      type: "project",
      description: "The latest note",
      body,
    };
    const result = await this.#runtime.call("UpdateUserMemory", entry, ctx);
    if (!result.ok) throw asError(result.error);
    return result.data.outcome;
  }

  async forget(ctx: CallContext): Promise<string | null> {
    const result = await this.#runtime.call("UpdateUserMemory", { action: "delete", name: "note" }, ctx);
    return result.ok ? result.data.trashed : null;
  }

  async note(ctx: CallContext): Promise<ToolOutput<"ReadUserMemory">> {
    const result = await this.#runtime.call("ReadUserMemory", { name: "note" }, ctx);
    if (!result.ok) throw asError(result.error);
    return result.data;
  }

  async found(query: string, ctx: CallContext): Promise<MemorySearchOutput["data"]["results"]> {
    const tags = ["plan"] as const;
    const result = await this.#runtime.call("memory_search", { query, tags, limit: 5 }, ctx);
    return result.ok ? result.data.data.results : [];
  }

  async shared(ctx: CallContext): Promise<string[]> {
    const result = await this.#runtime.call("memory", { command: "search", query: "plan" }, ctx);
    return result.ok ? (result.data.results ?? []).map(({ path, score }) => `${path}: ${score.toFixed(1)}`) : [];
  }

  async turns(agentId: string, runId: string, ctx: CallContext): Promise<number> {
    const result = await this.#runtime.call("ReadRunHistory", { agentId, runId, types: ["tool_call"], last: 10 }, ctx);
    return result.ok ? result.data.events.length + result.data.eventsLeftOut : 0;
  }

  async addBook(title: string, ctx: CallContext): Promise<number> {
    const result = await this.#runtime.call("AddBook", { title }, ctx);
    if (!result.ok) throw asError(result.error);
    return result.data.shelf;
  }

  /** A tool for programs has its plugin's name before its own. */
  async names(ctx: CallContext): Promise<string[]> {
    const result = await this.#runtime.callAsHost("user-memory/ListEntries", {}, ctx);
    return result.ok ? result.data.entries.map(({ name, description }) => `${name}: ${description}`) : [];
  }
}

const asError = ({ code, message }: ToolFailure): Error => new Error(`${code}: ${message}`);
