/** An agent with a user's memory, on OpenAI's Chat Completions API or a server that is compatible with it. */
import { createRuntime, modelAnswer } from "memcell";
import OpenAI from "openai";

type ToolCall = OpenAI.Chat.Completions.ChatCompletionMessageToolCall;

const client = new OpenAI();
await using runtime = await createRuntime({
  dataDir: "data",
  plugins: ["user-memory", "journal", "run-history", "stores"],
});
const ctx = { userId: "alice" }; // from your authentication

const tools = runtime.tools({ format: "openai-strict" });
const system = `You are a helpful assistant.\n${runtime.instructions()}\n${await runtime.memoryIndex(ctx)}`;
const messages: OpenAI.Chat.Completions.ChatCompletionMessageParam[] = [
  { role: "system", content: system },
  { role: "user", content: "Which language shall we speak?" },
];
for (let turn = 0; turn < 10; turn++) {
  const { choices } = await client.chat.completions.create({ model: "gpt-5.4", messages, tools });
  const message = choices[0]?.message;
  if (message?.content) console.log(message.content);
  if (!message?.tool_calls) break;
  messages.push(message, ...(await Promise.all(message.tool_calls.map(answer))));
}

/** Where a model has left a field out, it has sent `null`: the tools take that. */
async function answer(toolCall: ToolCall): Promise<OpenAI.Chat.Completions.ChatCompletionToolMessageParam> {
  const { id } = toolCall;
  const { name, arguments: text } = toolCall.type === "function" ? toolCall.function : { name: "", arguments: "{}" };
  const input: unknown = JSON.parse(text);
  const { text: content } = modelAnswer(await runtime.call(name, input, { ...ctx, callId: id }));
  return { role: "tool", tool_call_id: id, content };
}
