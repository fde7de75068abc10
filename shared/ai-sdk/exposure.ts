/** What a model was exposed to, by the messages that it was sent and by what else its answer has. */
import { trustsIn } from "../origin-lines.ts";
import type { OriginClass } from "../origin.ts";

interface Part {
  readonly type?: unknown;
  readonly toolName?: unknown;
  readonly output?: unknown;
  /** By the provider of the model. */
  readonly providerExecuted?: unknown;
}

/** The texts that a model has seen, as far as they can be told without the names of the program's own tools. */
export class SeenTexts {
  readonly #classes = new Set<OriginClass>();
  /** How far the memory is trusted that is in a tool's results, by the name of the tool. */
  readonly #results = new Map<string, Set<OriginClass>>();

  /** Messages that are missing can have had anything. */
  addMessages(messages: unknown): this {
    if (!Array.isArray(messages)) this.#classes.add("tool_external");
    else for (const message of messages as unknown[]) this.#addMessage(message);
    return this;
  }

  /** A part of the model's own message, or of a stream of it: a result in it is that of a provider's tool. */
  addOfAnswer(part: unknown): void {
    const { type, providerExecuted } = (part ?? {}) as Part;
    if (!ofModel.test(String(type)) || (type === "tool-call" && providerExecuted === true))
      this.#classes.add("tool_external");
  }

  /**
   * The classes of all texts, each once. `ownTools`: memcell's, and those whose results are the program's own. The texts
   * of memory in memcell's results count as far as they are trusted.
   */
  classes(ownTools: ReadonlySet<string>): ReadonlySet<OriginClass> {
    const found = new Set(this.#classes);
    for (const [tool, trusts] of this.#results)
      for (const each of ownTools.has(tool) ? ["tool_internal" as const, ...trusts] : ["tool_external" as const])
        found.add(each);
    return found;
  }

  #addMessage(message: unknown): void {
    const { role, content } = (message ?? {}) as { readonly role?: unknown; readonly content?: unknown };
    if (role === "system" || (typeof content === "string" && role === "assistant")) return;
    if (typeof content === "string" && role === "user") this.#classes.add("direct_user");
    else if (!Array.isArray(content)) this.#classes.add("tool_external");
    else for (const part of content as unknown[]) this.#addPart(role, part ?? {});
  }

  #addPart(role: unknown, part: Part): void {
    // A file or an image can have anybody's words in it.
    if (role === "user") this.#classes.add(part.type === "text" ? "direct_user" : "untrusted_document");
    else if (role === "tool" && part.type === "tool-result") this.#addResult(part);
    else this.addOfAnswer(part);
  }

  #addResult({ toolName, output }: Part): void {
    if (typeof toolName !== "string") return void this.#classes.add("tool_external");
    const trusts = this.#results.get(toolName) ?? new Set();
    for (const each of trustsIn(JSON.stringify(output ?? null))) trusts.add(each);
    this.#results.set(toolName, trusts);
  }
}

/** The types of parts that are the model's own, or that say nothing. */
const ofModel = new RegExp(
  "^(?:file|reasoning-file|tool-call|tool-approval-(?:request|response)|(?:text|reasoning|tool-input)(?:-(?:start|delta|end))?" +
    "|stream-start|response-metadata|raw|finish|error)$",
);
