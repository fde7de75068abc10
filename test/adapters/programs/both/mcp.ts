/** The oldest client that is tried, in the same process. */
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { createRuntime, memoryStore } from "memcell";
import { mcpServer } from "memcell/mcp";

await using runtime = await createRuntime({ store: memoryStore() });

const [ours, theirs] = InMemoryTransport.createLinkedPair();
await mcpServer(runtime, { userId: "alice" }).connect(ours);
const client = new Client({ name: "framework", version: "1" });
await client.connect(theirs);

const entry = { action: "upsert", name: "language", type: "user", description: "Japanese", body: "Speaks Japanese." };
await client.callTool({ name: "UpdateUserMemory", arguments: entry });
const { tools } = await client.listTools();
const { resources } = await client.listResources();
const { messages } = await client.getPrompt({ name: "memory" });
await client.close();
console.log(
  JSON.stringify({
    tools: tools.map(({ name }) => name),
    resources: resources.map(({ uri }) => uri),
    prompt: messages[0]?.content,
  }),
);
