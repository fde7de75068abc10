/** What the official clients get of one user's memory, in every revision that they support. */
import { join } from "node:path";

import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { clientKinds, connect } from "../stage/mcp-clients.ts";
import type { Connected } from "../stage/mcp-clients.ts";
import { readRecords } from "../stage/runtime.ts";
import { entry } from "../stage/serve-lines.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { shippedFlags } from "../support/test-plugin.ts";
import { userFolderNames, writeUserFiles } from "../support/user-files.ts";

const namesOf = (count: number): string[] => Array.from({ length: count }, (_, index) => `e-${1000 + index}`);

/** Files as the tool writes them, created all at once. */
function writeEntries(dataDir: string, userId: string, names: readonly string[]): void {
  const lines = names.map((name) => `- [${name}](${name}.md) \u2014 About ${name}\n`);
  const time = '"2026-01-01T00:00:00.000Z"';
  const facts = names.map((name) => [
    `memory/${name}.md`,
    `---\nname: ${name}\ndescription: About ${name}\ntype: user\ncreated: ${time}\nupdated: ${time}\n---\nBody of ${name}`,
  ]);
  writeUserFiles(dataDir, { [userId]: { "memory/MEMORY.md": lines.join(""), ...Object.fromEntries(facts) } });
}

const indexes = ["index", "journal/index", "stores/index", "user-memory/index"].map((path) => `memory://${path}`);

describe.for(clientKinds)("client: %s", (kind) => {
  const folder = temporaryFolder();
  const dataDir = join(folder.path, "data");
  const logFile = join(folder.path, "log", "audit.jsonl");
  let served: Connected;
  beforeAll(async () => {
    writeEntries(dataDir, "alice", namesOf(250));
    const places = ["--data", dataDir, "--audit-log", logFile];
    served = await connect(kind, ["--user", "alice", ...places, ...shippedFlags()]);
  });
  afterAll(async () => {
    await served[Symbol.asyncDispose]();
    folder[Symbol.dispose]();
  });

  test("the server describes itself, its capabilities and what memory is for", () => {
    const { client } = served;
    expect(client.getServerVersion()).toMatchObject({ name: "memcell" });
    expect(client.getServerCapabilities()).toEqual({
      tools: {},
      resources: { subscribe: true, listChanged: true },
      prompts: {},
      completions: {},
    });
    expect(client.getInstructions()).toContain("memory://index");
  });

  test("a failed call is a result with a code and without structured content", async () => {
    const failed = await served.client.callTool({ name: "ReadUserMemory", arguments: { name: "absent" } });
    expect(failed.structuredContent).toBeUndefined();
    const message = 'Cannot find memory entry "absent": no entry of this name exists';
    const failure = { code: "ENTRY_NOT_FOUND", message, retryable: false };
    expect(failed).toMatchObject({ isError: true, _meta: { "memcell/error": { ...failure, blame: "caller" } } });
    const [told, json] = (failed.content as { text: string }[]).map(({ text }) => text);
    expect([told, JSON.parse(json ?? "")]).toEqual([message, failure]);
  });

  test("lists the indexes and each entry as resources, a hundred per page", async () => {
    const uris: string[] = [];
    const counts: number[] = [];
    let cursor: string | undefined;
    do {
      const page = await served.client.listResources(cursor === undefined ? {} : { cursor });
      counts.push(page.resources.length);
      uris.push(...page.resources.map(({ uri }) => uri));
      cursor = page.nextCursor;
    } while (cursor !== undefined);
    expect(uris).toEqual([...indexes, ...namesOf(250).map((name) => `memory://user-memory/entry/${name}`)]);
    // The current client fetches all pages itself.
    if (kind === "former SDK") expect(counts).toEqual([100, 100, 54]);
  });

  test("the index is what the prompt contains", async () => {
    const { contents } = await served.client.readResource({ uri: "memory://index" });
    const { messages } = await served.client.getPrompt({ name: "memory" });
    const text = expect.stringMatching(/^<user_memory_index>[^]*\[e-1000\]\(e-1000\.md\)[^]*<\/user_memory_index>\n$/);
    expect(contents).toMatchObject([{ uri: "memory://index", mimeType: "text/markdown", text }]);
    expect(messages).toEqual([{ role: "user", content: { type: "text", text } }]);
    expect((await served.client.listPrompts()).prompts).toMatchObject([{ name: "memory" }]);
    await expect(served.client.getPrompt({ name: "other" })).rejects.toMatchObject({ code: -32602 });
  });

  test("an entry's text is exactly its body", async () => {
    const body = "---\r\nnot: front matter\n---\n\n # Ünïcode \u{1f600}\n\n";
    await served.client.callTool({ name: "UpdateUserMemory", arguments: { ...entry("exact", body) } });
    const { contents } = await served.client.readResource({ uri: "memory://user-memory/entry/exact" });
    expect(contents).toMatchObject([
      {
        uri: "memory://user-memory/entry/exact",
        mimeType: "text/markdown",
        text: body,
        _meta: { "memcell/entry": { name: "exact", description: "What exact is", type: "user" } },
      },
    ]);
    await served.client.callTool({ name: "UpdateUserMemory", arguments: { action: "delete", name: "exact" } });
  });

  test("completes names of entries, at most a hundred at once", async () => {
    const { resourceTemplates } = await served.client.listResourceTemplates();
    expect(resourceTemplates).toMatchObject([
      { uriTemplate: "memory://journal/entry/{name}" },
      { uriTemplate: "memory://stores/entry/{name}" },
      { uriTemplate: "memory://user-memory/entry/{name}" },
    ]);
    const ref = { type: "ref/resource" as const, uri: "memory://user-memory/entry/{name}" };
    const complete = async (value: string): Promise<unknown> =>
      (await served.client.complete({ ref, argument: { name: "name", value } })).completion;
    expect(await complete("e-109")).toEqual({ values: namesOf(100).slice(90), total: 10, hasMore: false });
    expect(await complete("e-")).toEqual({ values: namesOf(100), total: 250, hasMore: true });
    expect(await complete("E-")).toEqual({ values: [], total: 0, hasMore: false });
    for (const [uri, name] of [
      ["memory://user-memory/index", "name"],
      ["memory://unknown/entry/{name}", "name"],
      ["memory://user-memory/entry/{name}", "user"],
    ] as const) {
      const asked = served.client.complete({ ref: { ...ref, uri }, argument: { name, value: "" } });
      await expect(asked).rejects.toMatchObject({ code: -32602 });
    }
  });

  test("each call's labels in the audit log name the transport and the client", async () => {
    await expect(served.client.callTool({ name: "Absent", arguments: {} })).rejects.toMatchObject({ code: -32602 });
    await served.client.readResource({ uri: "memory://index" });
    const calls = readRecords(logFile).flatMap((record) => (record.kind === "call" ? [record] : []));
    const labels = { via: "mcp-stdio", client: kind === "former SDK" ? "former/1" : "present/2" };
    expect(calls.filter((call) => call.labels?.["client"] !== labels.client)).toEqual([]);
    expect(calls.slice(-4)).toMatchObject([
      { tool: "Absent", userId: "alice", code: "TOOL_UNKNOWN", labels },
      ...["JournalIndex", "MemoryKeys", "PromptIndex"].map((tool) => ({ tool, userId: "alice", code: null, labels })),
    ]);
  });

  test("a user without entries gets an empty index, and nothing is created", async () => {
    await using empty = await connect(kind, ["--user", "bob", "--data", dataDir, ...shippedFlags()]);
    const { resources } = await empty.client.listResources();
    expect(resources.map(({ uri }) => uri)).toEqual(indexes);
    for (const uri of indexes) {
      const { contents } = await empty.client.readResource({ uri });
      expect(contents).toMatchObject([{ uri, text: "" }]);
    }
    const { messages } = await empty.client.getPrompt({ name: "memory" });
    expect(messages[0]?.content).toMatchObject({ text: "Nothing is remembered about the user yet." });
    expect(userFolderNames(dataDir)).toEqual(["alice"]);
  });
});
