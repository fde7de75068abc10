import { mountsFor } from "../config/mount-settings.ts";
import { readSettings } from "../config/read-settings.ts";
import type { Settings } from "../config/read-settings.ts";
import { serveSettings } from "../config/serve-settings.ts";
import type { ServeSettings } from "../config/serve-settings.ts";
import { servePaths } from "../config/settings.ts";
import { UsageError } from "../config/usage-error.ts";
import type { RuntimeOptions } from "../runtime/api.ts";
import { createRuntime } from "../runtime/runtime.ts";
import type { HttpServeOptions } from "../serve/serve-options.ts";
import { stopSignal } from "../serve/stop-signal.ts";
import { ToolError } from "../values/tool-error.ts";
import { checkUserId } from "../values/user-id.ts";
import type { Command } from "./command.ts";
import { runtimeOptions } from "./open-runtime.ts";
import { parseOptions } from "./parse-options.ts";

export const serveCommand: Command = {
  help: `Serves memory to MCP clients: one user's over standard input and output, many users' over HTTP.

Usage
  memcell serve --user ID [--data DIR] [--policy FILE] [--audit-log FILE]
  memcell serve --http --issuer URL --audience TEXT --jwks URL|FILE [--host HOST] [--port PORT] ...
  memcell serve --http --user ID [--port PORT] ...

Over standard input and output (default)
  --user ID            the user on whose behalf everything is done

Over HTTP: the user comes from a token that is verified, and from nothing else
  --http               listen on http://127.0.0.1:7391/mcp
  --issuer URL         the one issuer whose tokens are accepted, and
  --audience TEXT      the one audience they must be for
  --jwks URL|FILE      where the issuer's keys are, or
  --public-key FILE    one key, PEM
  --user-claim NAME    the claim that holds the user's id (default: sub)
  --host, --port       where to listen; another address than loopback needs tokens
  --user ID            instead of tokens, on loopback only: whoever asks is this user

Both
  --data DIR           the data folder (default: data)
  --journal DIR        the folder of the one user's journal, as in a workspace (default: in the data folder)
  --policy FILE        what the host is willing to grant (default: what the tools of the package need)
  --audit-log FILE     where to record what is done and what is refused (default: nowhere)

These and more (limits, origins, the public URL) are settings, which an environment variable or memcell.config.json may say:
"memcell config --help".

It ends with SIGTERM, SIGINT or SIGHUP, and when standard input does: what has been asked for is answered first. A second signal
ends it at once. Standard output carries MCP and nothing else; logs go to standard error. Over HTTP, /healthz and
/readyz tell whether it serves.

Examples
  { "command": "memcell", "args": ["serve", "--user", "alice", "--data", "/srv/memory"] }   as a client's configuration
  memcell serve --http --issuer https://id.example --audience https://memory.example --jwks https://id.example/keys

Exit codes
  0 served   1 could not start, for the reason on standard error   2 the command line makes no sense
`,

  async run(args) {
    const parsed = parseOptions(args, { texts: [], settings: servePaths }, 0);
    const settings = await readSettings(parsed.settings);
    const serve = serveSettings(settings);
    const options = { ...runtimeOptions(settings.values), mounts: mountsOf(settings, serve) };
    return await orRefusal(() =>
      serve.kind === "http"
        ? serveOverHttp(options, serve.options)
        : serveOverStdio(options, serve.userId, settings.values["serve.closeGraceMs"]),
    );
  },
};

function mountsOf(settings: Settings, serve: ServeSettings): RuntimeOptions["mounts"] & object {
  if (serve.kind === "stdio") return mountsFor(settings, serve.userId);
  const { access } = serve.options;
  return mountsFor(settings, access.kind === "one-user" ? access.userId : undefined, "tokens are for many");
}

async function serveOverStdio(options: RuntimeOptions, asked: string, closeGraceMs: number): Promise<number> {
  const userId = checkUserId(asked, "serve");
  const { serveStdio } = await import("../serve/stdio/serve-stdio.ts");
  const signal = stopSignal();
  const { stdin: input, stdout: output } = process;
  // Elsewhere a command ends at once when nobody reads its output. Here calls may be under way.
  output.removeAllListeners("error");
  // One user's calls take turns: a second thread would have nothing to do.
  const runtime = await createRuntime({ threadsMax: 1, ...options });
  await serveStdio({ runtime, userId, signal, input, output, onFault, closeGraceMs });
  // What the client does not take would keep the process alive for ever.
  if (output.writableLength > 0) process.exit(0);
  return 0;
}

async function serveOverHttp(options: RuntimeOptions, http: HttpServeOptions): Promise<number> {
  if (http.access.kind === "one-user") checkUserId(http.access.userId, "serve");
  const { startHttpServer } = await import("../serve/http/start-http-server.ts");
  const signal = stopSignal();
  await using runtime = await createRuntime(options);
  const server = await startHttpServer(runtime, http, options.onLog).catch((error: unknown) => {
    throw asRefusalToListen(error, http);
  });
  process.stderr.write(`memcell serve: listening on ${server.url}\n`);
  if (!signal.aborted) await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
  await server.close();
  return 0;
}

const listenFailures: Readonly<Record<string, string>> = {
  EADDRINUSE: "something else listens there",
  EADDRNOTAVAIL: "no such address here",
  EACCES: "not allowed",
  ENOTFOUND: "no such name",
};

function asRefusalToListen(error: unknown, { host, port }: HttpServeOptions): unknown {
  if (error instanceof RangeError) return new UsageError(error.message, { cause: error });
  const reason = listenFailures[(error as NodeJS.ErrnoException).code ?? ""];
  return reason === undefined ? error : new UsageError(`cannot listen on port ${port} of ${host}: ${reason}`);
}

const onFault = (text: string): void => void process.stderr.write(`error mcp: ${text}\n`);

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
