import { stopSignal } from "../serve/stop-signal.ts";
import { ToolError } from "../tool-error.ts";
import { checkUserId } from "../user-id.ts";
import type { Command } from "./command.ts";
import { openRuntime } from "./open-runtime.ts";
import type { OpenOptions } from "./open-runtime.ts";
import { parseOptions } from "./parse-options.ts";

export const serveCommand: Command = {
  help: `Serves a user's memory to an MCP client, over standard input and output.

Usage
  memcell serve --user ID [--data DIR] [--policy FILE] [--audit-log FILE]

Options
  --user ID          the user on whose behalf everything is done
  --data DIR         the data folder (default: data)
  --policy FILE      what the host is willing to grant (default: what the tools of the package need)
  --audit-log FILE   where to record what is done (default: nowhere)

It ends when standard input does, or with SIGTERM, SIGINT or SIGHUP: what has been asked for is answered first. Standard
output carries MCP and nothing else; logs go to standard error.

Example, as an MCP client's configuration
  { "command": "memcell", "args": ["serve", "--user", "alice", "--data", "/srv/memory"] }

Exit codes
  0 served   1 could not start, for the reason on standard error   2 the command line makes no sense
`,

  async run(args) {
    const { options } = parseOptions(args, { texts: ["user", "data", "policy", "audit-log"] }, 0);
    return await orRefusal(() => serveOverStdio(options));
  },
};

async function serveOverStdio(options: OpenOptions & { readonly user?: string }): Promise<number> {
  const userId = checkUserId(options.user, "serve");
  const { serveStdio } = await import("../serve/stdio/serve-stdio.ts");
  const signal = stopSignal();
  const { stdin: input, stdout: output, stderr } = process;
  // Elsewhere a command ends at once when nobody reads its output. Here calls may be under way.
  output.removeAllListeners("error");
  // A client may close this one too, and nothing must end because nobody reads the log.
  stderr.on("error", () => {});
  const onFault = (text: string): void => void stderr.write(`error mcp: ${text}\n`);
  const runtime = await openRuntime(options);
  await serveStdio({ runtime, userId, signal, input, output, onFault });
  // What the client does not take would keep the process alive for ever.
  if (output.writableLength > 0) process.exit(0);
  return 0;
}

/** Standard output is the client's, so a server that cannot start tells why on standard error. */
async function orRefusal(run: () => Promise<number>): Promise<number> {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof ToolError)) throw error;
    process.stderr.write(`memcell serve: ${error.code}: ${error.message}\n`);
    return 1;
  }
}
