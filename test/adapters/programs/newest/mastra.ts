/** An agent of Mastra with the tools of the AI SDK. */
import { Agent } from "@mastra/core/agent";
import { MockLanguageModelV3 } from "ai/test";
import { createRuntime, memoryStore } from "memcell";
import { memcellTools } from "memcell/ai-sdk";

await using runtime = await createRuntime({ store: memoryStore() });

const entry = { action: "upsert", name: "language", type: "user", description: "About it", body: "Speaks Japanese." };
const turns = [
  { type: "tool-call" as const, toolCallId: "call-1", toolName: "UpdateUserMemory", input: JSON.stringify(entry) },
  { type: "text" as const, text: "Nihongo." },
];
const sent: unknown[] = [];
const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};
const model = new MockLanguageModelV3({
  doGenerate: ({ prompt }) => {
    sent.push(...prompt.filter(({ role }) => role === "tool").map(({ content }) => content));
    const part = turns.shift() ?? { type: "text" as const, text: "" };
    const unified = part.type === "text" ? "stop" : "tool-calls";
    return Promise.resolve({ content: [part], finishReason: { unified, raw: undefined }, usage, warnings: [] });
  },
});
const agent = new Agent({
  id: "planner",
  name: "planner",
  instructions: "Plan.",
  // Its types of a model are stricter than what it takes.
  model: model as never,
  tools: memcellTools(runtime, { userId: "alice" }),
});
const { text } = await agent.generate("Which language shall we speak?");
const read = await runtime.readEntry({ name: "language" }, { userId: "alice" });
const [version] = await runtime.upkeep.history({ userId: "alice" });
console.log(JSON.stringify({ text, sent: sent.flat(), body: read.body, trust: version?.trust, callId: version?.callId }));
