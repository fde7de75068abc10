/** An agent with a user's memory, on Anthropic's Messages API. */
import Anthropic from "@anthropic-ai/sdk";
import { createRuntime, modelAnswer } from "memcell";

const client = new Anthropic();
await using runtime = await createRuntime({ dataDir: "data" });
const ctx = { userId: "alice" }; // from your authentication

const tools = runtime.tools({ format: "anthropic" });
const messages: Anthropic.MessageParam[] = [{ role: "user", content: "Which language shall we speak?" }];
for (let turn = 0; turn < 10; turn++) {
  const message = await client.messages.create({
    model: "claude-opus-4-6",
    max_tokens: 1024,
    system: `You are a helpful assistant.\n${runtime.instructions()}\n${await runtime.memoryIndex(ctx)}`,
    messages,
    tools,
  });
  for (const block of message.content) if (block.type === "text") console.log(block.text);
  const uses = message.content.filter((block) => block.type === "tool_use");
  if (uses.length === 0) break;
  messages.push({ role: "assistant", content: message.content });
  messages.push({ role: "user", content: await Promise.all(uses.map(answer)) });
}

/** The tool checks its input, which is `unknown`, and the answer says what is allowed: the model can correct it. */
async function answer({ id, name, input }: Anthropic.ToolUseBlock): Promise<Anthropic.ToolResultBlockParam> {
  const { text, isError } = modelAnswer(await runtime.call(name, input, { ...ctx, callId: id }));
  return { type: "tool_result", tool_use_id: id, is_error: isError, content: text };
}
