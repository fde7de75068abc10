/**
 * What the documents say of servers: a client's configuration, the tables of refusals, and commands whose servers tell
 * clients who issues tokens. Without a public URL, a server says that it does not.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { Client as FormerClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as FormerTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { exportSPKI, generateKeyPair } from "jose";
import { expect, test } from "vitest";

import { blocksIn, commandLinesIn } from "../documents/markdown-table.ts";
import { textOf } from "../documents/tracked-files.ts";
import { HttpProcess } from "../stage/http-process.ts";
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
  const info = { name: "reader", version: "1" };
  const [client, former] = [new Client(info), new FormerClient(info)];
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

const metadataPath = "/.well-known/oauth-protected-resource";
const get = (path: string, host: string): object => ({ method: "GET", path, headers: { host } });

/** The commands of a document that start an HTTP server, as arguments. */
function commandsIn(document: string): string[][] {
  const words = commandLinesIn(textOf(document)).map((line) => line.split(/ +/).filter((word) => word !== ""));
  return words
    .filter((each) => each.slice(0, 3).join(" ") === "node_modules/.bin/memcell serve --http")
    .map((each) => each.slice(3));
}

async function expectMetadata(served: HttpProcess): Promise<void> {
  for (const path of [metadataPath, `${metadataPath}/mcp`]) {
    const { status, body } = await served.ask(get(path, "memory.example"));
    expect({ path, status }).toEqual({ path, status: 200 });
    expect(JSON.parse(body)).toMatchObject({
      resource: "https://memory.example/mcp",
      authorization_servers: ["https://id.example"],
    });
  }
  const refused = await served.ask({ body: "{}", headers: { host: "memory.example" } });
  expect(refused.headers["www-authenticate"]).toContain(`https://memory.example${metadataPath}/mcp`);
  expect((await served.end()).lines.join("\n")).not.toContain("--public-url");
}

test.for(["README.md", "host/serve/http/README.md", "host/serve/storage/README.md"])(
  "the commands of %s serve the metadata of the resource",
  async (document) => {
    const commands = commandsIn(document);
    expect(commands.length).toBeGreaterThan(0);
    for (const args of commands) {
      using folder = temporaryFolder();
      const own = args.map((arg) => (arg === "/srv/memory" ? join(folder.path, "data") : arg));
      await using served = new HttpProcess(own, { cwd: folder.path });
      await expectMetadata(served);
    }
  },
);

test("the config file of host/config/README.md serves the metadata of the resource", async () => {
  using folder = temporaryFolder();
  const file = blocksIn(textOf("host/config/README.md")).find(({ language }) => language === "json")?.text ?? "";
  writeFileSync(join(folder.path, "memcell.config.json"), file);
  const { publicKey } = await generateKeyPair("ES256", { extractable: true });
  writeFileSync(join(folder.path, "key.pem"), await exportSPKI(publicKey));
  await using served = new HttpProcess(["--config", "."], { cwd: folder.path });
  await expectMetadata(served);
});

const tokens = ["--issuer", "https://id.example", "--audience", "memory", "--jwks", "https://id.example/keys"];
const notServed = `memcell serve: ${metadataPath} is not served, so clients cannot find out who issues tokens; to serve it, set serve.publicUrl (--public-url)`;

test.for([
  { what: "a server with tokens says in one line what it does not serve", args: tokens, says: [notServed] },
  { what: "a server of one user has no issuer to tell, and says nothing", args: ["--user", "alice"], says: [] },
])("without a public URL, $what", async ({ args, says }) => {
  using folder = temporaryFolder();
  await using served = new HttpProcess(args, { cwd: folder.path });
  expect((await served.ask(get(metadataPath, "127.0.0.1"))).status).toBe(404);
  const { lines } = await served.end();
  expect(lines.filter((line) => line.startsWith("memcell serve: ")).slice(1)).toEqual(says);
});
