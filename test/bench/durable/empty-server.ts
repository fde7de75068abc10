/** An MCP server with a tool that does nothing. It shows the cost of protocol and pipes. */
import { Server } from "@modelcontextprotocol/server";
import { StdioServerTransport } from "@modelcontextprotocol/server/stdio";

const server = new Server({ name: "memcell-bench-empty", version: "0" }, { capabilities: { tools: {} } });
server.setRequestHandler("tools/call", () => ({ content: [{ type: "text", text: "Nothing was done" }] }));
await server.connect(new StdioServerTransport());
