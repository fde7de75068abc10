/**
 * memcell as a server for the Model Context Protocol, as small as one can be: one user, and a tool that does nothing, to
 * tell what the protocol and the pipes take.
 *
 * usage: node stand-in-server.js DATA-FOLDER
 */
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { CallToolRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { createRuntime } from "memcell";

const [dataDir = ""] = process.argv.slice(2);
const runtime = await createRuntime({ dataDir, threadsMax: 1 });
const server = new Server({ name: "memcell-stand-in", version: "0" }, { capabilities: { tools: {} } });

server.setRequestHandler(CallToolRequestSchema, async ({ params }) => {
  if (params.name === "Nothing") return { content: [{ type: "text", text: "Nothing was done" }] };
  const result = await runtime.call(params.name, params.arguments, { userId: "alice" });
  const text = result.ok ? result.message : result.error.message;
  return { content: [{ type: "text", text }], isError: !result.ok };
});

process.stdin.once("end", () => void runtime.close());
await server.connect(new StdioServerTransport());
