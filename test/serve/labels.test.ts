/** What the audit log says about MCP clients: a client's own name is a label only. */
import { join } from "node:path";

import { expect, test } from "vitest";

import { clientLabel } from "../../host/serve/mcp/served-user.ts";
import { readRecords } from "../audit/audited-stage.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { shippedFlags } from "../support/test-plugin.ts";
import { clientKinds, connect } from "./mcp-clients.ts";
import { ServeProcess } from "./serve-process.ts";

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

test("turns an invalid client name into a valid label, and the call goes on", async () => {
  using folder = temporaryFolder();
  const logFile = join(folder.path, "log", "audit.jsonl");
  await using served = new ServeProcess(["--user", "alice", "--data", folder.path, "--audit-log", logFile]);
  const clientInfo = { name: `\u202e${"n".repeat(5_000)}`, version: "\n\0" };
  await served.ask("initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo });
  expect(await served.call("ReadUserMemory", { name: "a" })).toMatchObject({ result: { isError: true } });
  expect(readRecords(logFile).filter(({ kind }) => kind === "call")).toMatchObject([
    { code: "ENTRY_NOT_FOUND", labels: { client: `?${"n".repeat(255)}` } },
  ]);
});

test.for([
  { name: "none", client: undefined, label: null },
  { name: "no names", client: {}, label: null },
  { name: "names that are not texts", client: { name: 1, version: {} }, label: null },
  { name: "empty names", client: { name: "", version: "" }, label: null },
  { name: "a name alone", client: { name: "a" }, label: "a/" },
  { name: "control characters", client: { name: "a\u001b[2J", version: "1\u007f" }, label: "a?[2J/1?" },
  { name: "a long name", client: { name: "é".repeat(300), version: "1" }, label: "?".repeat(256) },
])("the label of $name", ({ client, label }) => {
  expect(clientLabel(client)).toBe(label);
});
