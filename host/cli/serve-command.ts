import { readSettings } from "../config/read-settings.ts";
import type { Settings } from "../config/read-settings.ts";
import { serveSettings } from "../config/serve-settings.ts";
import { flagLines } from "../config/settings-help.ts";
import { runtimePaths, settingPaths } from "../config/settings.ts";
import { createRuntime } from "../runtime.ts";
import type { HttpServeOptions } from "../serve/serve-options.ts";
import { stopSignal } from "../serve/stop-signal.ts";
import { ToolError } from "../tool-error.ts";
import type { Command } from "./command.ts";
import { runtimeOptions } from "./open-runtime.ts";
import { parseOptions } from "./parse-options.ts";

const paths = settingPaths.filter(
  (path) => path.startsWith("serve.") || runtimePaths.includes(path) || path === "threadsMax",
);

export const serveCommand: Command = {
  help: `Serves users' memory to MCP clients: one user's over standard input and output, or many users' over HTTP.

Usage
  memcell serve --user ID [--data DIR] ...
  memcell serve --http --issuer TEXT --audience TEXT (--jwks FILE|URL | --public-key FILE) [--port NUMBER] ...
  memcell serve --http --user ID ...

Options
${flagLines(paths)}
Each is a setting, which an environment variable or memcell.config.json may say: "memcell config --help" names them.

Over standard input and output it ends when the input does. Standard output carries MCP and nothing else; logs go to standard
error. Over HTTP each request shows a token, which names its user; without tokens, one user is served, on this machine alone.
One line on standard error says the URL as soon as it listens.

It ends with SIGTERM, SIGINT or SIGHUP: what has been asked for is answered first. A second time it ends at once.

Examples
  { "command": "memcell", "args": ["serve", "--user", "alice", "--data", "/srv/memory"] }   in an MCP client's configuration
  memcell serve --http --issuer https://id.example --audience https://memory.example --jwks https://id.example/keys

Exit codes
  0 served   1 could not start, for the reason on standard error   2 the command line makes no sense
`,

  async run(args) {
    const { settings: flags } = parseOptions(args, { texts: [], settings: paths }, 0);
    const settings = await readSettings(flags);
    const serve = serveSettings(settings);
    return await orRefusal(() =>
      serve.kind === "http" ? serveHttp(serve.options, settings) : serveStdio(serve.userId, settings),
    );
  },
};

async function serveHttp(options: HttpServeOptions, { values }: Settings): Promise<number> {
  const { serveOverHttp } = await import("../serve/http/serve-over-http.ts");
  const signal = stopSignal();
  keepGoingUnread();
  const runtimeOf = runtimeOptions(values);
  await using runtime = await createRuntime(runtimeOf);
  const onListening = (url: string): void => void process.stderr.write(`memcell serve: listening on ${url}\n`);
  await serveOverHttp({ runtime, options, signal, onLog: runtimeOf.onLog ?? (() => {}), onListening });
  return 0;
}

async function serveStdio(userId: string, { values }: Settings): Promise<number> {
  const { serveStdio: serve } = await import("../serve/stdio/serve-stdio.ts");
  const signal = stopSignal();
  const { stdin: input, stdout: output, stderr } = process;
  // Elsewhere a command ends at once when nobody reads its output. Here calls may be under way.
  output.removeAllListeners("error");
  keepGoingUnread();
  const onFault = (text: string): void => void stderr.write(`error mcp: ${text}\n`);
  const runtime = await createRuntime({ ...runtimeOptions(values), threadsMax: values.threadsMax ?? 1 });
  await serve({ runtime, userId, signal, input, output, onFault, closeGraceMs: values["serve.closeGraceMs"] });
  // What the client does not take would keep the process alive for ever.
  if (output.writableLength > 0) process.exit(0);
  return 0;
}

/** A client may close this one too, and nothing must end because nobody reads the log. */
function keepGoingUnread(): void {
  process.stderr.on("error", () => {});
}

/** Standard output is the client's, so a server that cannot start tells why on standard error. */
async function orRefusal(run: () => Promise<number>): Promise<number> {
  try {
    return await run();
  } catch (error) {
    const reason = reasonOf(error);
    if (reason === null) throw error;
    process.stderr.write(`memcell serve: ${reason}\n`);
    return 1;
  }
}

function reasonOf(error: unknown): string | null {
  if (error instanceof ToolError) return `${error.code}: ${error.message}`;
  if (error instanceof RangeError) return error.message;
  const { code, syscall } = error as NodeJS.ErrnoException;
  return syscall === "listen" || syscall === "getaddrinfo" ? `cannot listen: ${code ?? "unknown"}` : null;
}
