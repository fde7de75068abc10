/** The SDK's tool runner calls the tool, and sends Claude the documented texts. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

import Anthropic from "@anthropic-ai/sdk";
import { betaMemoryTool } from "@anthropic-ai/sdk/helpers/beta/memory";
import { createRuntime, memoryStore } from "memcell";
import { memoryTool } from "memcell/anthropic";
import { expect, test } from "vitest";

import { create, insert, missing, rename, replace, shown, useMemcell, view } from "./tools.ts";
import type { Command } from "./tools.ts";

const newUser = useMemcell();

interface Sent {
  readonly tools: unknown;
  readonly messages: readonly { readonly content: unknown }[];
}

/** Answers as Claude: first with tool calls, then with the end of its turn. Keeps what it was sent. */
async function claude(commands: readonly Command[]): Promise<AsyncDisposable & { baseURL: string; sent: Sent[] }> {
  const calls = commands.map((input, at) => ({ type: "tool_use", id: `toolu_${at}`, name: "memory", input }));
  const sent: Sent[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      sent.push(JSON.parse(Buffer.concat(chunks).toString()) as Sent);
      const turn =
        sent.length === 1
          ? { content: calls, stop_reason: "tool_use" }
          : { content: [{ type: "text", text: "Done" }], stop_reason: "end_turn" };
      const usage = { input_tokens: 1, output_tokens: 1 };
      const message = { id: "msg_1", type: "message", role: "assistant", model: "m", usage, stop_sequence: null };
      response.setHeader("content-type", "application/json").end(JSON.stringify({ ...message, ...turn }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    baseURL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    sent,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** The tool results that Claude gets for its calls. */
async function resultsOf(commands: readonly Command[]): Promise<unknown> {
  const user = newUser();
  await user.run(create("/memories/a", "1\n"));
  await using server = await claude(commands);
  const client = new Anthropic({ baseURL: server.baseURL, apiKey: "key", maxRetries: 0 });
  const tool = betaMemoryTool(memoryTool(user.runtime, { userId: user.userId }));
  const messages = [{ role: "user" as const, content: "Remember" }];
  await client.beta.messages.toolRunner({ model: "m", max_tokens: 100, messages, tools: [tool] });
  expect(server.sent[0]?.tools).toEqual([{ type: "memory_20250818", name: "memory" }]);
  return server.sent[1]?.messages.at(-1)?.content;
}

const result = (at: number, content: string, isError = false): object => ({
  type: "tool_result",
  tool_use_id: `toolu_${at}`,
  content,
  ...(isError && { is_error: true }),
});

test("the runner sends answers and errors as they are documented", async () => {
  expect(
    await resultsOf([
      view("/memories/a"),
      create("/memories/a", "2"),
      insert("/memories/none", 0, "x"),
      rename("/memories/a", "/memories/a"),
      replace("/memories/none", "a", "b"),
      view("/memories/none"),
      { command: "undo", path: "/memories/a" },
    ]),
  ).toEqual([
    result(0, shown("/memories/a", "     1\t1")),
    result(1, "Error: File /memories/a already exists", true),
    result(2, "Error: The path /memories/none does not exist", true),
    result(3, "Error: The destination /memories/a already exists", true),
    result(4, missing("/memories/none").replace("✗", "Error:"), true),
    result(5, missing("/memories/none").replace("✗", "Error:"), true),
    result(6, "Error: undo not implemented", true),
  ]);
});

test.for([
  ["alice", "ENTRY_NOT_FOUND"],
  ["../alice", "USER_INVALID"],
])("the error that a handler throws for %s has the cause %s", async ([userId = "", code]) => {
  const handlers = memoryTool(newUser().runtime, { userId });
  const viewed = handlers.view({ command: "view", path: "/memories/none" });
  await expect(viewed).rejects.toMatchObject({ cause: { code, blame: "caller" } });
});

test("without its plugin, the tool is not even made, and the error says what to load", async () => {
  await using runtime = await createRuntime({ store: memoryStore(), threadsMax: 1 });
  expect(() => memoryTool(runtime, { userId: "alice" })).toThrow(
    'Cannot make Claude\'s memory tool: the plugin "stores" is not loaded, add "stores" to the option plugins of createRuntime',
  );
});
