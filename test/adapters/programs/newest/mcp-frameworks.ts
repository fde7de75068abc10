/** Frameworks that take MCP servers, with a user's server in the same process. */
import type { Options } from "@anthropic-ai/claude-agent-sdk";
import { loadMcpTools } from "@langchain/mcp-adapters";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { getAllMcpTools } from "@openai/agents-core";
import type { MCPServer } from "@openai/agents-core";
import { createRuntime, memoryStore } from "memcell";
import { mcpServer } from "memcell/mcp";

await using runtime = await createRuntime({ store: memoryStore() });
const ctx = { userId: "alice" };

// The Claude Agent SDK connects the instance itself.
const options: Options = {
  mcpServers: { memory: { type: "sdk", name: "memory", instance: mcpServer(runtime, ctx) } },
};

// Others take a client.
const [ours, theirs] = InMemoryTransport.createLinkedPair();
await mcpServer(runtime, ctx).connect(ours);
const client = new Client({ name: "framework", version: "1" });
await client.connect(theirs);

const langchain = await loadMcpTools("memory", client);
const write = langchain.find(({ name }) => name === "UpdateUserMemory");
const entry = { action: "upsert", name: "language", type: "user", description: "Japanese", body: "Speaks Japanese." };
const written: unknown = await write?.invoke(entry);

const server: MCPServer = {
  name: "memory",
  cacheToolsList: true,
  connect: () => Promise.resolve(),
  close: () => client.close(),
  listTools: async () => (await client.listTools()).tools as Awaited<ReturnType<MCPServer["listTools"]>>,
  callTool: async (name, args) => {
    const { content } = await client.callTool({ name, arguments: args ?? {} });
    return content as Awaited<ReturnType<MCPServer["callTool"]>>;
  },
  invalidateToolsCache: () => Promise.resolve(),
};
const agents = await getAllMcpTools([server]);
const read = await server.callTool("ReadUserMemory", { name: "language" });
await server.close();
console.log(
  JSON.stringify({
    claude: Object.keys(options.mcpServers ?? {}),
    written,
    langchain: langchain.map(({ name }) => name),
    agents: agents.map(({ name }) => name),
    read,
  }),
);
