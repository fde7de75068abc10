/** Programs with the real SDKs compile against the packed package, and the examples among them work. */
import { spawn } from "node:child_process";

import { afterAll, beforeAll, expect, test } from "vitest";

import { strictFaults } from "../executor/strict-faults.ts";
import { packedConsumer } from "./packed-consumer.ts";
import type { PackedConsumer } from "./packed-consumer.ts";
import { scriptedApi } from "./scripted-api.ts";

let consumer: PackedConsumer;
let compiled: unknown;
beforeAll(() => {
  consumer = packedConsumer();
  compiled = consumer.compile(consumer.programs(), { noEmit: false });
});
afterAll(() => consumer[Symbol.dispose]());

test("the README's program and all others compile as Node resolves, and no wrong one does", () => {
  const programs = ["anthropic", "executor", "formats", "openai", "other-entries", "own-plugin", "wrong-inputs"];
  expect(consumer.programs()).toEqual(expect.arrayContaining([...programs, "readme"].map((name) => `${name}.ts`)));
  expect(compiled).toEqual({ status: 0, said: "" });
});

interface Message {
  readonly role: string;
  readonly content: unknown;
}

/** Runs an example against an API that answers with turns, and returns what it printed and sent. */
async function play(program: string, turns: readonly unknown[]): Promise<{ printed: string; requests: Request[] }> {
  await using api = await scriptedApi(turns);
  const env = { ...process.env, ANTHROPIC_BASE_URL: api.address, OPENAI_BASE_URL: `${api.address}/v1` };
  const keys = { ANTHROPIC_API_KEY: "none", OPENAI_API_KEY: "none" };
  const script = program.replace(/ts$/, "js");
  const child = spawn(process.execPath, [script], { cwd: consumer.folder, env: { ...env, ...keys } });
  let printed = "";
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (text) => (printed += text));
  const code = await new Promise((resolve) => child.once("close", resolve));
  expect({ code, printed }).toMatchObject({ code: 0 });
  return { printed, requests: api.requests as Request[] };
}

interface Request {
  readonly messages: readonly Message[];
  readonly system?: string;
  readonly tools: readonly {
    readonly input_schema?: object;
    readonly function?: { readonly parameters: Readonly<Record<string, unknown>>; readonly strict: boolean };
  }[];
}

const useOf = (id: string, name: string, input: unknown) => ({ type: "tool_use", id, name, input });
const messageOf = (...content: unknown[]) => ({ type: "message", role: "assistant", content, stop_reason: "end_turn" });
const completionOf = (message: object) => ({ choices: [{ index: 0, message: { role: "assistant", ...message } }] });

const entry = { action: "upsert", name: "language", type: "user", description: "Prefers Japanese", body: "Japanese." };

test("the example for Anthropic stores an entry, and the next turn has it in its prompt", async () => {
  const { printed, requests } = await play("anthropic.ts", [
    messageOf(useOf("call_1", "UpdateUserMemory", entry), useOf("call_2", "ReadUserMemory", { name: "../x" })),
    messageOf({ type: "text", text: "Nihongo." }),
  ]);
  expect(printed).toBe("Nihongo.\n");
  expect(requests[0]?.tools.every(({ input_schema: schema }) => schema !== undefined)).toBe(true);
  expect(requests[1]?.system).toContain("Prefers Japanese");
  expect(requests[1]?.messages.at(-1)?.content).toMatchObject([
    { type: "tool_result", tool_use_id: "call_1", is_error: false },
    { type: "tool_result", tool_use_id: "call_2", is_error: true },
  ]);
});

test("the example for OpenAI takes every field that a model in strict mode must send", async () => {
  const inputs: readonly (readonly [name: string, input: unknown])[] = [
    ["memory_write", { key: "k", content: "text", tags: null, target: null }],
    ["memory_search", { query: "text", tags: null, limit: null }],
    ["ReadRunHistory", { agentId: "a", runId: "r", types: null, last: null, charsMax: null }],
    ["memory", { command: "stores", path: null, content: null, old_str: null, new_str: null, query: null, ttl: null }],
    ["UpdateUserMemory", { action: "delete", name: "none", type: null, description: null, body: null }],
  ];
  const toolCalls = inputs.map(([name, input], at) => ({
    id: `call_${at}`,
    type: "function",
    function: { name, arguments: JSON.stringify(input) },
  }));
  const { printed, requests } = await play("openai.ts", [
    completionOf({ content: null, tool_calls: toolCalls }),
    completionOf({ content: "Nihongo." }),
  ]);
  expect(printed).toBe("Nihongo.\n");
  for (const { function: told } of requests[0]?.tools ?? [])
    expect(told && { faults: strictFaults(told.parameters, "openai"), strict: told.strict }).toEqual({
      faults: [],
      strict: true,
    });
  const replies = requests[1]?.messages.filter(({ role }) => role === "tool").map(({ content }) => String(content));
  expect(replies?.map((reply) => /^\{"error":\{"code":"(\w+)"/.exec(reply)?.[1])).toEqual([
    undefined,
    undefined,
    undefined,
    undefined,
    "ENTRY_NOT_FOUND",
  ]);
});
