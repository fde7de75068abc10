import { readSettings } from "../../config/read-settings.ts";
import type { Settings } from "../../config/read-settings.ts";
import { serveSettings } from "../../config/serve-settings.ts";
import type { ServeSettings } from "../../config/serve-settings.ts";
import { settingPaths } from "../../config/settings.ts";
import { storeFor } from "../../config/store-settings.ts";
import type { PlaceOfMemory } from "../../config/store-settings.ts";
import { UsageError } from "../../config/usage-error.ts";
import type { RuntimeOptions } from "../../runtime/options.ts";
import { createRuntimeWith } from "../../runtime/runtime.ts";
import type { MetricsServer } from "../../serve/metrics/start-metrics-server.ts";
import type { HttpServeOptions, MetricsAddress } from "../../serve/serve-options.ts";
import { stopSignal } from "../../serve/stop-signal.ts";
import { checkUserId } from "../../values/ids.ts";
import { ToolError } from "../../values/tool-error.ts";
import { visibleText } from "../../values/visible-text.ts";
import { defineCommand } from "../command.ts";
import { runtimeOptions } from "../open-runtime.ts";
import type { Terminal } from "../terminal.ts";

export const command = defineCommand({
  name: "serve",
  description: `Serves memory to MCP clients: one user's over standard input and output, many users' over HTTP.

Over standard input and output (default): every request is made on behalf of --user.

Over HTTP (--http): the user comes only from a verified token. --issuer and --audience say which tokens are accepted,
and --jwks or --public-key gives the keys that verify them. On a loopback address, --user can replace tokens: then
every client acts as this user. With --page, people sign in at /memory with the issuer, and see and correct what is
remembered of them; that needs --public-url, --page-client and --page-key. With --storage, agents of a platform keep their memory at /api/storage/;
that needs --plugin stores.

SIGTERM, SIGINT and SIGHUP stop the server, and so does the end of standard input if it serves there. It first answers
the requests that it has received. A second signal stops it at once. Standard output carries only MCP; logs go to
standard error. Over HTTP, /healthz and /readyz report whether the server is serving, and --metrics serves metrics for
Prometheus on an address of their own.`,
  fields: {},
  settings: settingPaths,
  examples: [
    "memcell serve --user alice --data /srv/memory",
    "memcell serve --http --issuer https://id.example --audience https://memory.example/mcp --jwks https://id.example/keys --public-url https://memory.example/mcp",
  ],
  exitCodes: ["served and stopped", "could not start"],

  async run(line) {
    const { terminal } = line;
    const settings = await readSettings(line.settings);
    const serve = serveSettings(settings);
    const { values } = settings;
    const memory = { sharingByModels: values["serve.sharingByModels"] };
    const options = { ...runtimeOptions(values, terminal.stderr), memory, ...(await storeOf(settings, serve)) };
    try {
      return serve.kind === "http"
        ? await serveOverHttp(options, serve, terminal)
        : await serveOverStdio(options, { ...serve, closeGraceMs: values["serve.closeGraceMs"] }, terminal);
    } catch (error) {
      if (!(error instanceof ToolError)) throw error;
      // Standard output belongs to the client, so a server that cannot start reports the reason on standard error.
      terminal.stderr.write(`memcell serve: ${error.code}: ${visibleText(error.message)}\n`);
      return 1;
    }
  },
});

async function storeOf(settings: Settings, serve: ServeSettings): Promise<PlaceOfMemory> {
  if (serve.kind === "stdio") return await storeFor(settings, serve.userId);
  const { access } = serve.options;
  return await storeFor(
    settings,
    access.kind === "one-user" ? access.userId : undefined,
    "tokens can be of many users",
  );
}

type OverStdio = Extract<ServeSettings, { readonly kind: "stdio" }> & { readonly closeGraceMs: number };

async function serveOverStdio(options: RuntimeOptions, serve: OverStdio, terminal: Terminal): Promise<number> {
  const userId = checkUserId(serve.userId, "serve");
  const { originClass, closeGraceMs } = serve;
  const { serveStdio } = await import("../../serve/stdio/serve-stdio.ts");
  const signal = stopSignal();
  const { stdin: input, stdout: output, stderr } = terminal;
  // Other commands end at once when nobody reads their output. Here calls can still be running.
  output.removeAllListeners("error");
  // One user's calls run one after the other, so a second thread would be idle.
  const runtime = await createRuntimeWith({ threadsMax: 1, ...options }, { logWait: { signal } });
  const onFault = (text: string): void => void stderr.write(`error mcp: ${text}\n`);
  await serveStdio({ runtime, userId, originClass, signal, input, output, onFault, closeGraceMs });
  // Output that the client does not read would keep the process alive forever.
  if (output.writableLength > 0) process.exit(0);
  return 0;
}

type OverHttp = Extract<ServeSettings, { readonly kind: "http" }>;

async function serveOverHttp(
  options: RuntimeOptions,
  { options: http, metrics: address }: OverHttp,
  { stderr }: Terminal,
): Promise<number> {
  if (http.access.kind === "one-user") checkUserId(http.access.userId, "serve");
  const { startHttpServer } = await import("../../serve/http/start-http-server.ts");
  const signal = stopSignal();
  // Disposed of last: it shows how the runtime closes.
  await using metrics = address && (await startMetrics(address));
  const metered = metrics && { meterProvider: metrics.meterProvider };
  await using runtime = await createRuntimeWith({ ...options, ...metered, warmThreads: true }, { logWait: { signal } });
  const server = await startHttpServer(runtime, http, options.onLog).catch((error: unknown) => {
    throw asRefusalToListen(error, http);
  });
  stderr.write(`memcell serve: listening on ${server.url}\n`);
  if (server.pageUrl !== null) stderr.write(`memcell serve: the page for people is ${server.pageUrl}\n`);
  if (metrics !== null) {
    metrics.show("memcell.streams", "Open streams of changes", () => server.open.streams);
    stderr.write(`memcell serve: metrics on ${metrics.url}\n`);
  }
  if (http.access.kind === "token" && http.publicUrl === null) stderr.write(withoutPublicUrl);
  if (!signal.aborted) await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
  await server.close();
  return 0;
}

/** The packages that it needs are loaded only here. */
async function startMetrics(address: MetricsAddress): Promise<MetricsServer> {
  const { startMetricsServer } = await import("../../serve/metrics/start-metrics-server.ts");
  return await startMetricsServer(address).catch((error: unknown) => {
    throw asRefusalToListen(error, address);
  });
}

const withoutPublicUrl =
  "memcell serve: /.well-known/oauth-protected-resource is not served, so clients cannot find out who issues tokens; " +
  "to serve it, set serve.publicUrl (--public-url)\n";

const listenFailures: Readonly<Record<string, string>> = {
  EADDRINUSE: "the port is in use",
  EADDRNOTAVAIL: "this machine does not have that address",
  EACCES: "permission denied",
  ENOTFOUND: "unknown host name",
};

function asRefusalToListen(error: unknown, { host, port }: Pick<HttpServeOptions, "host" | "port">): unknown {
  if (error instanceof RangeError) return new UsageError(error.message, { cause: error });
  const reason = listenFailures[(error as NodeJS.ErrnoException).code ?? ""];
  return reason === undefined ? error : new UsageError(`cannot listen on port ${port} of ${host}: ${reason}`);
}
