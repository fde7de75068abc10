import { mountsFor } from "../config/mount-settings.ts";
import { readSettings } from "../config/read-settings.ts";
import type { Settings } from "../config/read-settings.ts";
import { serveSettings } from "../config/serve-settings.ts";
import type { ServeSettings } from "../config/serve-settings.ts";
import { settingPaths } from "../config/settings.ts";
import { UsageError } from "../config/usage-error.ts";
import type { RuntimeOptions } from "../runtime/api.ts";
import { createRuntime } from "../runtime/runtime.ts";
import type { HttpServeOptions } from "../serve/serve-options.ts";
import { stopSignal } from "../serve/stop-signal.ts";
import { ToolError } from "../values/tool-error.ts";
import { checkUserId } from "../values/user-id.ts";
import { visibleText } from "../values/visible-text.ts";
import { defineCommand } from "./command.ts";
import { runtimeOptions } from "./open-runtime.ts";

export const serveCommand = defineCommand({
  name: "serve",
  description: `Serves memory to MCP clients: one user's over standard input and output, many users' over HTTP.

Over standard input and output (default): --user is the user on whose behalf everything is done.

Over HTTP (--http): the user comes from a token that is verified, and from nothing else. --issuer and --audience say whose
tokens are accepted, --jwks or --public-key what they are verified with. On loopback only, --user does instead of tokens:
whoever asks is this user.

It ends with SIGTERM, SIGINT or SIGHUP, and when standard input does: what has been asked for is answered first. A second
signal ends it at once. Standard output carries MCP and nothing else; logs go to standard error. Over HTTP, /healthz and
/readyz tell whether it serves.`,
  settings: settingPaths,
  examples: [
    "memcell serve --user alice --data /srv/memory",
    "memcell serve --http --issuer https://id.example --audience https://memory.example --jwks https://id.example/keys",
  ],
  exitCodes: ["0 served", "1 could not start, for the reason on standard error"],

  async run(line) {
    const settings = await readSettings(line.settings);
    const serve = serveSettings(settings);
    const options = { ...runtimeOptions(settings.values), mounts: mountsOf(settings, serve) };
    try {
      return serve.kind === "http"
        ? await serveOverHttp(options, serve.options)
        : await serveOverStdio(options, serve.userId, settings.values["serve.closeGraceMs"]);
    } catch (error) {
      if (!(error instanceof ToolError)) throw error;
      // Standard output is the client's, so a server that cannot start tells why on standard error.
      process.stderr.write(`memcell serve: ${error.code}: ${visibleText(error.message)}\n`);
      return 1;
    }
  },
});

function mountsOf(settings: Settings, serve: ServeSettings): RuntimeOptions["mounts"] & object {
  if (serve.kind === "stdio") return mountsFor(settings, serve.userId);
  const { access } = serve.options;
  return mountsFor(settings, access.kind === "one-user" ? access.userId : undefined, "tokens are for many");
}

const onFault = (text: string): void => void process.stderr.write(`error mcp: ${text}\n`);

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
