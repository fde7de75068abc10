/** An agent of Mastra with the tools of the AI SDK. */
import { Agent } from "@mastra/core/agent";
import { wrapLanguageModel } from "ai";
import { MockLanguageModelV3 } from "ai/test";
import { createRuntime, memoryStore } from "memcell";
import { exposureMiddleware, memcellTools } from "memcell/ai-sdk";

await using runtime = await createRuntime({ store: memoryStore() });

type Tools = NonNullable<ConstructorParameters<typeof Agent>[0]["tools"]>;

/** Plays one turn with a write, and returns what the model gets of it. */
async function play(name: string, tools: Tools, middleware?: ReturnType<typeof exposureMiddleware>): Promise<unknown> {
  const entry = { action: "upsert", name, type: "user", description: `About ${name}`, body: "Speaks Japanese." };
  const usage = {
    inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: 1, text: 1, reasoning: 0 },
  };
  let sent: unknown = null;
  const plain = new MockLanguageModelV3({
    doGenerate: ({ prompt }) => {
      const last = prompt.at(-1);
      const part = last?.role === "tool" ? last.content[0] : undefined;
      if (part?.type === "tool-result") sent = part.output;
      const toolName = "UpdateUserMemory";
      const content = part
        ? { type: "text" as const, text: "Nihongo." }
        : { type: "tool-call" as const, toolCallId: name, toolName, input: JSON.stringify(entry) };
      const finishReason = { unified: part ? ("stop" as const) : ("tool-calls" as const), raw: undefined };
      return Promise.resolve({ content: [content], finishReason, usage, warnings: [] });
    },
  });
  const model = middleware ? wrapLanguageModel({ model: plain, middleware }) : plain;
  // Its types of a model are stricter than what it takes.
  const agent = new Agent({ id: "planner", name: "planner", instructions: "Plan.", model: model as never, tools });
  await agent.generate("Which language shall we speak?");
  return sent;
}

// Mastra does not tell what other tools have returned, so a program whose agent has none says so.
const stated = await play("language", memcellTools(runtime, { userId: "alice", exposedTo: ["direct_user"] }));
const unstated = await play("diet", memcellTools(runtime, { userId: "alice" }));
// The middleware sees what the model is really sent.
const middleware = exposureMiddleware();
const seen = await play("city", memcellTools(runtime, { userId: "alice" }, { middleware }), middleware);
const entries = await runtime.memoryEntries({ userId: "alice" });
const waiting = await runtime.upkeep.pending({ userId: "alice" });
const versions = await runtime.upkeep.history({ userId: "alice" });
const trusts = Object.fromEntries(versions.map(({ callId, trust }) => [callId, trust]));
console.log(JSON.stringify({ stated, unstated, seen, entries: entries.map(({ name }) => name), waiting, trusts }));
