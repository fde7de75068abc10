/** What a model has been sent decides how far its writes are trusted, for each form of message that the AI SDK has. */
import fc from "fast-check";
import type { CallContext, EntryOrigin, OriginClass } from "memcell";
import { originLines } from "memcell";
import { claudeMemory, exposureMiddleware, memcellTools } from "memcell/ai-sdk";
import { memoryTool } from "memcell/anthropic";
import { sessionStore } from "memcell/claude-agent-sdk";
import { memcellSession } from "memcell/openai-agents";
import { afterAll, beforeAll, expect, test } from "vitest";

import { lowestOf, originClasses } from "../../shared/origin.ts";
import { openStage } from "../stage/runtime.ts";
import type { RuntimeStage } from "../stage/runtime.ts";

let stage: RuntimeStage;
beforeAll(async () => {
  stage = await openStage();
});
afterAll(async () => await stage[Symbol.asyncDispose]());

const entry = (name: string) => ({ action: "upsert", name, type: "user", description: "About it", body: "Text." });

/** How far a write is trusted that a model makes when it has been sent these messages. */
async function trustAfter(messages: unknown, more: object = {}): Promise<OriginClass | undefined> {
  const ctx = { userId: stage.user() };
  const { UpdateUserMemory: tool } = memcellTools(stage.runtime, ctx, { ownTools: ["findOrder"] });
  await tool?.execute(entry("note"), { toolCallId: "1", messages: messages as unknown[], ...more });
  const [waiting] = await stage.runtime.upkeep.pending(ctx);
  const [version] = await stage.runtime.upkeep.history(ctx);
  return waiting?.trust ?? version?.trust;
}

const user = (...content: unknown[]) => ({ role: "user", content });
const result = (toolName: string, output: unknown) => ({ type: "tool-result", toolCallId: "0", toolName, output });
const menu: EntryOrigin = {
  scope: "memory",
  path: "menu.md",
  name: "menu",
  class: "tool_external",
  trust: "tool_external",
  at: "2026-11-20T10:00:00Z",
};
const text = { type: "text", text: "Hello" };
const told = { type: "text", value: `Menu\n{}\n${originLines([menu])}` };

test.for([
  ["the user's words", [{ role: "user", content: "Hello" }], "model_inference"],
  ["the user's words as a part", [user(text)], "model_inference"],
  ["the model's own words", [{ role: "assistant", content: "Hello" }], "model_inference"],
  ["the program's words", [{ role: "system", content: "Origin of x: tool_external" }], "model_inference"],
  [
    "reasoning and calls",
    [{ role: "assistant", content: [{ type: "reasoning", text: "" }, { type: "tool-call" }] }],
    "model_inference",
  ],
  ["an image of the user", [user(text, { type: "image", image: "…" })], "untrusted_document"],
  ["a file of the user", [user({ type: "file", data: "…", mediaType: "text/plain" })], "untrusted_document"],
  ["a foreign tool", [{ role: "tool", content: [result("readPage", { type: "text", value: "x" })] }], "tool_external"],
  [
    "a foreign tool's failure",
    [{ role: "tool", content: [result("readPage", { type: "error-text", value: "x" })] }],
    "tool_external",
  ],
  [
    "a provider's own tool",
    [{ role: "assistant", content: [result("web_search", { type: "json", value: [] })] }],
    "tool_external",
  ],
  [
    "a part of another kind",
    [{ role: "assistant", content: [{ type: "source", url: "https://example.com" }] }],
    "tool_external",
  ],
  [
    "a provider's tool with the name of one of memcell's",
    [{ role: "assistant", content: [result("ReadUserMemory", { type: "text", value: "x" })] }],
    "tool_external",
  ],
  [
    "a provider's tool with the name of one of the program's",
    [{ role: "assistant", content: [result("findOrder", { type: "text", value: "x" })] }],
    "tool_external",
  ],
  [
    "events of a run",
    [{ role: "tool", content: [result("ReadRunHistory", { type: "text", value: "x" })] }],
    "tool_external",
  ],
  ["a message of another kind", [{ role: "data", content: { a: 1 } }], "tool_external"],
  ["a text of another role", [{ role: "function", content: "x" }], "tool_external"],
  ["no message", [null], "tool_external"],
  ["no part", [{ role: "tool", content: [null] }], "tool_external"],
  [
    "a tool of the program",
    [{ role: "tool", content: [result("findOrder", { type: "text", value: "x" })] }],
    "tool_internal",
  ],
  [
    "memory of the user",
    [{ role: "tool", content: [result("ReadUserMemory", { type: "text", value: "Hello" })] }],
    "tool_internal",
  ],
  ["memory of a page, as a text", [{ role: "tool", content: [result("ReadUserMemory", told)] }], "tool_external"],
  [
    "memory of a page, as a result",
    [{ role: "tool", content: [result("memory", { type: "json", value: { ok: true, origins: [menu] } })] }],
    "tool_external",
  ],
  [
    "memory of a page, as a JSON text",
    [{ role: "tool", content: [result("memory", { type: "text", value: JSON.stringify({ origins: [menu] }) })] }],
    "tool_external",
  ],
  ["messages that are missing", undefined, "tool_external"],
] as const)("after %s", async ([, messages, trust]) => {
  expect(await trustAfter(messages)).toBe(trust);
});

test("transcripts of other frameworks are trusted as what tools return, unless the program says otherwise", async () => {
  for (const [origin, trust] of [
    [undefined, "tool_external"],
    [{ class: "tool_internal" }, "tool_internal"],
  ] as const) {
    const [one, other] = [
      { userId: stage.user(), origin },
      { userId: stage.user(), origin },
    ] as const;
    await memcellSession(stage.runtime, one, "chat").addItems([{ role: "user", content: "x" }]);
    await sessionStore(stage.runtime, other).append({ projectKey: "p", sessionId: "s" }, [{ type: "x" }]);
    for (const { userId } of [one, other]) {
      const versions = await stage.runtime.upkeep.history({ userId });
      expect(new Set(versions.map((version) => version.trust))).toEqual(new Set([trust]));
    }
  }
});

test("a context with fields that are undefined is as one without them", async () => {
  const ctx = { userId: stage.user(), callId: undefined, origin: undefined, exposedTo: undefined, signal: undefined };
  const messages = [{ role: "tool", content: [result("readPage", { type: "text", value: "x" })] }];
  await memcellTools(stage.runtime, ctx)["UpdateUserMemory"]?.execute(entry("a"), { toolCallId: "c", messages });
  const [waiting] = await stage.runtime.upkeep.pending(ctx);
  expect(waiting).toMatchObject({ callId: "c", class: "model_inference", trust: "tool_external" });
});

test("in Mastra, which does not say what tools have returned, everything can have been seen", async () => {
  expect(await trustAfter([user(text)], { requestContext: new Map() })).toBe("tool_external");
});

const noted = { type: "tool-call", toolCallId: "1", toolName: "UpdateUserMemory" };
const found = { type: "tool-result", toolCallId: "0", toolName: "web_search", result: [] };

/** Streams a call to whoever reads it, and executes it before the stream has ended as `end` says. */
async function trustInStream(end: (source: ReadableStreamDefaultController, read: ReadableStream) => unknown) {
  const middleware = exposureMiddleware();
  const sources: ReadableStreamDefaultController[] = [];
  const stream = new ReadableStream({ start: (each) => void sources.push(each) });
  const wrapped = await middleware.wrapStream({ doStream: () => Promise.resolve({ stream }), params: { prompt: [] } });
  const [source] = sources;
  source?.enqueue(noted);
  const reader = wrapped.stream.getReader();
  await reader.read();
  reader.releaseLock();
  const ctx = { userId: stage.user() };
  const { UpdateUserMemory: tool } = memcellTools(stage.runtime, ctx, { middleware });
  const executed = tool?.execute(entry("note"), { toolCallId: "1", messages: [] });
  if (source) await end(source, wrapped.stream);
  await executed;
  const [waiting] = await stage.runtime.upkeep.pending(ctx);
  return waiting?.trust ?? "model_inference";
}

async function readAll(stream: ReadableStream): Promise<void> {
  for await (const part of stream) expect(part).toBeDefined();
}

test.for<[string, Parameters<typeof trustInStream>[0], OriginClass]>([
  ["comes to its end", (source, read) => (source.close(), readAll(read)), "model_inference"],
  [
    "has a search behind the call",
    (source, read) => {
      source.enqueue(found);
      source.close();
      return readAll(read);
    },
    "tool_external",
  ],
  ["fails", (source, read) => (source.error("gone"), expect(readAll(read)).rejects.toBe("gone")), "model_inference"],
  ["is cancelled", (_, read) => read.cancel(), "model_inference"],
])("with the middleware, a call waits for the model's whole answer, which %s", async ([, end, trust]) => {
  expect(await trustInStream(end)).toBe(trust);
});

test("a middleware that has forgotten a call, after a thousand others, says that it was exposed to anything", async () => {
  const middleware = exposureMiddleware();
  const trusts: OriginClass[] = [];
  for (const answers of [1, 999, 1]) {
    for (let at = 0; at < answers; at++) {
      const content = [at === 0 && trusts.length === 0 ? noted : { type: "text", text: "x" }];
      await middleware.wrapGenerate({ doGenerate: () => Promise.resolve({ content }), params: { prompt: [] } });
    }
    const ctx = { userId: stage.user() };
    await memcellTools(stage.runtime, ctx, { middleware })["UpdateUserMemory"]?.execute(entry("note"), {
      toolCallId: "1",
      messages: [],
    });
    const [waiting] = await stage.runtime.upkeep.pending(ctx);
    trusts.push(waiting?.trust ?? "model_inference");
  }
  expect(trusts).toEqual(["model_inference", "model_inference", "tool_external"]);
});

test("what the program says itself counts, and a context can be a function of the call", async () => {
  const [alice, bob] = [stage.user("alice"), stage.user("bob")];
  const messages = [{ role: "tool", content: [result("readPage", { type: "text", value: "x" })] }];
  const tools = memcellTools<CallContext>(stage.runtime, ({ context }) => ({
    userId: context === "a" ? alice : bob,
    exposedTo: ["direct_user"],
    origin: { class: "direct_user", run: "chat-1" },
  }));
  await tools["UpdateUserMemory"]?.execute(entry("one"), { toolCallId: "call ß", messages, context: "a" });
  await tools["UpdateUserMemory"]?.execute(entry("two"), { toolCallId: "call-2", messages, context: "b" });
  const [one] = await stage.runtime.upkeep.history({ userId: alice });
  const [two] = await stage.runtime.upkeep.history({ userId: bob });
  expect([one, two]).toMatchObject([
    { trust: "direct_user", run: "chat-1" },
    { callId: "call-2", run: "chat-1" },
  ]);
  expect(stage.files(alice)["memory/one.md"]).toContain("Text.");
  expect(stage.files(alice)["memory/two.md"]).toBeUndefined();
});

test("either signal cancels a call", async () => {
  const aborted = AbortSignal.abort();
  for (const [signal, abortSignal] of [
    [aborted, undefined],
    [undefined, aborted],
    [aborted, new AbortController().signal],
  ]) {
    const tools = memcellTools(stage.runtime, { userId: stage.user(), ...(signal && { signal }) });
    const call = { toolCallId: "1", messages: [], abortSignal };
    expect(await tools["ReadUserMemory"]?.execute({ name: "x" }, call)).toMatchObject({ error: { code: "CANCELLED" } });
  }
});

test("Claude's own memory tool suggests what waits, in the AI SDK and with Anthropic's SDK, and fails otherwise", async () => {
  const ctx = { userId: stage.user() };
  const command = { command: "create", path: "/memories/a.md", file_text: "x" } as const;
  const page = [{ role: "tool", content: [result("readPage", { type: "text", value: "x" })] }];
  const execute = claudeMemory(stage.runtime, ctx);
  expect(await execute(command, { toolCallId: "1", messages: page })).toMatch(/^Saved as a suggestion \(w-/);
  const tool = memoryTool(stage.runtime, { ...ctx, exposedTo: ["untrusted_document"] as const });
  expect(await tool.create(command)).toMatch(/^Saved as a suggestion \(w-/);
  expect(await execute(command, { toolCallId: "2", messages: [] })).toContain("created");
  await expect(execute({ command: "view", path: "/x" }, { toolCallId: "3", messages: [] })).rejects.toThrow("/x");
});

test("the least trust of any origins is found again in their lines", async () => {
  const origin = fc.record({
    name: fc.string({ unit: fc.constantFrom("a", "b", "-", "_", ".", "/"), minLength: 1, maxLength: 300 }),
    class: fc.constantFrom(...originClasses),
    trust: fc.constantFrom(...originClasses),
    at: fc.constantFrom(null, "2026-11-20T10:00:00Z", "2026-11-21T10:00:00Z", "2027-01-01T10:00:00Z"),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(origin, { minLength: 1, maxLength: 40 }), async (all) => {
      const lines = originLines(all.map((each) => ({ scope: "memory", path: each.name, ...each })));
      const seen = lowestOf("tool_internal", ...all.map(({ trust }) => trust));
      expect(await trustAfter([{ role: "tool", content: [result("memory", { type: "text", value: lines })] }])).toBe(
        seen,
      );
    }),
    { numRuns: 40 },
  );
});
