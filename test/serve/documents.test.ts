/** What the documents say of servers: a client's configuration, and the tables of refusals. */
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { Client as FormerClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as FormerTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { expect, test } from "vitest";

import { blocksIn } from "../documents/markdown-table.ts";
import { textOf } from "../documents/tracked-files.ts";
import { refusals } from "../stage/http.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

test("the configuration for an MCP client in README.md starts a server that offers both SDKs the tools", async () => {
  const config = blocksIn(textOf("README.md")).find(({ text }) => text.includes("mcpServers"))?.text ?? "";
  const { mcpServers } = JSON.parse(config) as { mcpServers: Record<string, { command: string; args: string[] }> };
  const [server] = Object.values(mcpServers);
  using folder = temporaryFolder();
  const places: Readonly<Record<string, string>> = { "/srv/memory": join(folder.path, "data") };
  const clone = fileURLToPath(new URL("../../", import.meta.url));
  const args = server?.args.map((arg) => places[arg] ?? arg.replace(/^CLONE\//, clone)) ?? [];
  const started = { command: server?.command ?? "", args };
  const [client, former] = [
    new Client({ name: "reader", version: "1" }),
    new FormerClient({ name: "b", version: "1" }),
  ];
  await client.connect(new StdioClientTransport(started));
  await former.connect(new FormerTransport(started));
  for (const each of [client, former]) {
    const { tools } = await each.listTools();
    expect(tools.map(({ name }) => name)).toEqual(["UpdateUserMemory", "ReadUserMemory", "SearchUserMemory"]);
    await each.close();
  }
});

/** The reasons and statuses in the tables of a page. */
function namedIn(folder: string): unknown {
  const named = textOf(`host/serve/${folder}/README.md`).matchAll(/^\| `([a-z-]+)` \| (\d{3}) \|/gm);
  return Object.fromEntries(Array.from(named, ([, reason, status]) => [reason, Number(status)]));
}

test("the pages of refusals list every reason with its status, and no others", () => {
  const statuses = Object.entries(refusals.http).map(([reason, { status }]) => [reason, status]);
  expect(namedIn("http")).toEqual(Object.fromEntries(statuses));
  expect(namedIn("storage")).toEqual(refusals.storage);
});
