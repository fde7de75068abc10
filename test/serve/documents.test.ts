/** What the documents show of servers: a client's configuration, a file of keys. */
import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { expect, test } from "vitest";

import { openAgentKeys } from "../../host/serve/http/agent-keys.ts";
import { blocksIn } from "../documents/markdown-table.ts";
import { textOf } from "../documents/tracked-files.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

test("the configuration for an MCP client in README.md starts a server that offers the tools", async () => {
  const config = blocksIn(textOf("README.md")).find(({ text }) => text.includes("mcpServers"))?.text ?? "";
  const { mcpServers } = JSON.parse(config) as { mcpServers: Record<string, { command: string; args: string[] }> };
  const [server] = Object.values(mcpServers);
  using folder = temporaryFolder();
  const places: Readonly<Record<string, string>> = { "/srv/memory": join(folder.path, "data") };
  const clone = fileURLToPath(new URL("../../", import.meta.url));
  const args = server?.args.map((arg) => places[arg] ?? arg.replace(/^CLONE\//, clone)) ?? [];
  const client = new Client({ name: "reader", version: "1" });
  await client.connect(new StdioClientTransport({ command: server?.command ?? "", args }));
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toEqual(["UpdateUserMemory", "ReadUserMemory", "SearchUserMemory"]);
  await client.close();
});

test("the file of keys in host/serve/storage/README.md is one, with the SHA-256 of a key in place of the digits", async () => {
  const shown = blocksIn(textOf("host/serve/storage/README.md")).find(({ language }) => language === "json");
  const key = "k".repeat(24);
  const hash = createHash("sha256").update(key).digest("hex");
  const file = shown?.text.replace(/[0-9a-f]{4}…64 digits…/, hash) ?? "";
  using folder = temporaryFolder();
  const place = join(folder.path, "keys.json");
  writeFileSync(place, file);
  const { userId, keyId } = (await openAgentKeys(place)).identify(key);
  expect(Object.values(JSON.parse(file) as object)).toEqual([userId]);
  expect(keyId).toBe(hash.slice(0, 12));
});
