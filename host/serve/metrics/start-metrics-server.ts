/** The metrics of `memcell serve --http` in Prometheus' text format, on an address of their own. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { IncomingMessage, Server, ServerResponse } from "node:http";

import { version } from "../../values/version.ts";
import { isLoopback, listenAt } from "../loopback.ts";
import type { MetricsAddress } from "../serve-options.ts";
import { loadSdk } from "./sdk.ts";
import type { MeterProvider } from "./sdk.ts";

/** A scraper sends one request at a time, and nothing large. */
const limits = { headerBytesMax: 8 * 1024, requestMs: 5_000, connectionsMax: 32 };

export interface MetricsServer extends AsyncDisposable {
  /** With the address that the server listens on. */
  readonly url: string;
  /** Receives the measurements that are shown. */
  readonly meterProvider: MeterProvider;
  /** Shows a number that is looked up for each scrape. */
  show(name: string, description: string, valueOf: () => number): void;
}

/**
 * Serves `/metrics` without a token. Nothing there is about a user, but it tells how much a server is used and what it
 * refuses, so the address should be one that only the operator reaches.
 *
 * Rejects with the system's error when it cannot listen, and with a `RangeError` if OpenTelemetry's SDK is not installed.
 */
export async function startMetricsServer({ host, port }: MetricsAddress): Promise<MetricsServer> {
  const { MeterProvider, PrometheusExporter, PrometheusSerializer } = await loadSdk();
  const exporter = new PrometheusExporter({ preventServerStart: true });
  const meterProvider = new MeterProvider({ readers: [exporter] });
  const serializer = new PrometheusSerializer("", false, undefined, true, true);
  showProcess(meterProvider);
  const server = makeServer(host, async () => serializer.serialize((await exporter.collect()).resourceMetrics));
  const { origin } = await listenAt(server, { host, port });
  return {
    url: `${origin}/metrics`,
    meterProvider,
    show: (name, description, valueOf) => {
      const gauge = meterProvider.getMeter("memcell").createObservableGauge(name, { description });
      gauge.addCallback((result) => result.observe(valueOf()));
    },
    [Symbol.asyncDispose]: async () => {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
      await meterProvider.shutdown();
    },
  };
}

/** The names that Prometheus' own libraries use. */
function showProcess(meterProvider: MeterProvider): void {
  const meter = meterProvider.getMeter("process");
  const build = meter.createObservableGauge("memcell.build.info", { description: "The versions, in labels" });
  build.addCallback((result) => result.observe(1, { version, node: process.version }));
  const cpu = meter.createObservableCounter("process.cpu.seconds", { description: "Processor time of the process" });
  cpu.addCallback((result) => {
    const { user, system } = process.cpuUsage();
    result.observe((user + system) / 1e6);
  });
  const memory = meter.createObservableGauge("process.resident.memory.bytes", { description: "Resident memory" });
  memory.addCallback((result) => result.observe(process.memoryUsage.rss()));
  const start = meter.createObservableGauge("process.start.time.seconds", { description: "When the process began" });
  start.addCallback((result) => result.observe(performance.timeOrigin / 1000));
}

function makeServer(host: string, scrape: () => Promise<string>): Server {
  const { headerBytesMax: maxHeaderSize, requestMs, connectionsMax } = limits;
  const times = { headersTimeout: requestMs, requestTimeout: requestMs, connectionsCheckingInterval: 1_000 };
  const server = createServer({ maxHeaderSize, ...times, requireHostHeader: false }, (req, res) => {
    void answer(req, res, { host, scrape });
  });
  server.maxConnections = connectionsMax;
  server.maxRequestsPerSocket = 1;
  return server;
}

async function answer(
  req: IncomingMessage,
  res: ServerResponse,
  { host, scrape }: { readonly host: string; readonly scrape: () => Promise<string> },
): Promise<void> {
  const send = (status: number, text: string, headers: Record<string, string> = {}): void => {
    const type = { "Content-Type": "text/plain; version=0.0.4; charset=utf-8", "X-Content-Type-Options": "nosniff" };
    res.writeHead(status, { ...type, "Cache-Control": "no-store", Connection: "close", ...headers });
    res.end(text);
  };
  if (!isHostAllowed(req.headers.host, host)) return send(403, "The Host header names another server\n");
  if (req.url !== "/metrics") return send(404, "Not found\n");
  if (req.method !== "GET" && req.method !== "HEAD") return send(405, "Method not allowed\n", { Allow: "GET, HEAD" });
  try {
    send(200, await scrape());
  } catch {
    send(500, "The metrics cannot be collected\n");
  }
}

/** On a loopback address, no web page may read the metrics through a name of its own that leads here. */
function isHostAllowed(asked: string | undefined, host: string): boolean {
  if (!isLoopback(host)) return true;
  return isLoopback((asked ?? "").replace(/:\d{1,5}$/, ""));
}
