/** Starts an MCP server and talks to it over its standard input and output. */
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

export interface StdioServer {
  call(tool: string, input: Record<string, unknown>): Promise<void>;
  close(): Promise<void>;
}

/** Uses the 2025 protocol, which the peers support. */
export async function startServer(
  script: string,
  args: readonly string[],
  environment: Record<string, string> = {},
): Promise<StdioServer> {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [script, ...args],
    env: environment,
    stderr: "ignore",
  });
  const client = new Client({ name: "memcell-bench", version: "0" });
  await client.connect(transport);
  return {
    call: async (name, input) => {
      const result = await client.callTool({ name, arguments: input });
      if (result.isError) throw new Error(`${name} failed: ${JSON.stringify(result.content)}`);
    },
    close: () => client.close(),
  };
}
