/** What the audit log says about MCP clients: a client's own name is a label only. */
import { join } from "node:path";

import { expect, test } from "vitest";

import { clientKinds, connect } from "../stage/mcp-clients.ts";
import { readRecords } from "../stage/runtime.ts";
import { ServeLines } from "../stage/serve-lines.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { shippedFlags } from "../support/test-plugin.ts";

test.for(clientKinds)("each call's labels name the transport and the client: %s", async (kind) => {
  using folder = temporaryFolder();
  const logFile = join(folder.path, "log", "audit.jsonl");
  const args = ["--user", "alice", "--data", folder.path, "--audit-log", logFile];
  await using served = await connect(kind, [...args, ...shippedFlags()]);
  await served.client.callTool({ name: "ReadUserMemory", arguments: { name: "a" } });
  await expect(served.client.callTool({ name: "Absent", arguments: {} })).rejects.toMatchObject({ code: -32602 });
  await served.client.readResource({ uri: "memory://index" });
  const client = kind === "former SDK" ? "former/1" : "present/2";
  const [from, labels] = ["alice", { via: "mcp-stdio", client }];
  expect(readRecords(logFile).filter(({ kind: of }) => of === "call")).toMatchObject([
    { tool: "ReadUserMemory", userId: from, code: "ENTRY_NOT_FOUND", labels },
    { tool: "Absent", userId: from, code: "TOOL_UNKNOWN", labels },
    { tool: "JournalIndex", userId: from, code: null, labels },
    { tool: "MemoryKeys", userId: from, code: null, labels },
    { tool: "PromptIndex", userId: from, code: null, labels },
  ]);
});

test.for([
  { what: "empty names", client: { name: "", version: "" }, label: null },
  { what: "a name alone", client: { name: "a", version: "" }, label: "a/" },
  { what: "control characters", client: { name: "a\u001b[2J", version: "1\u007f\n\0" }, label: "a?[2J/1???" },
  { what: "a long name", client: { name: "é".repeat(300), version: "1" }, label: "?".repeat(256) },
  {
    what: "a very long one",
    client: { name: `\u202e${"n".repeat(5_000)}`, version: "1" },
    label: `?${"n".repeat(255)}`,
  },
])("of $what, the label has printable letters only, and the call goes on", async ({ client, label }) => {
  using folder = temporaryFolder();
  const logFile = join(folder.path, "log", "audit.jsonl");
  await using served = await ServeLines.open(
    ["--user", "alice", "--data", folder.path, "--audit-log", logFile],
    client,
  );
  expect(await served.call("ReadUserMemory", { name: "a" })).toMatchObject({ result: { isError: true } });
  const record = readRecords(logFile).find(({ kind }) => kind === "call");
  expect(record).toMatchObject({ code: "ENTRY_NOT_FOUND" });
  expect((record as { labels: { client?: string } }).labels.client ?? null).toBe(label);
});
