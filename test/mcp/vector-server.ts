/**
 * The host behind its own HTTP server, in a process of its own: for each plugin and limits that it is told of, a runtime
 * with a clock that it is told, and a server that admits users by their tokens. `vector-orders.ts` is what it is told.
 */
import { createRuntime } from "memcell";
import type { Runtime } from "memcell";

import { startHttpServer } from "../../host/serve/http/start-http-server.ts";
import type { HttpServer } from "../../host/serve/http/start-http-server.ts";
import { tokenAlgorithms } from "../../host/serve/serve-options.ts";
import type { HttpServeOptions } from "../../host/serve/serve-options.ts";
import { policyFor } from "../support/policy-for.ts";
import type { VectorOrder, VectorOrdered, VectorServerArguments } from "./vector-orders.ts";

const { issuer, audience, keySetFile } = JSON.parse(process.argv[2] ?? "") as VectorServerArguments;
const served = new Map<string, Promise<{ runtime: Runtime; server: HttpServer }>>();
let clockMs = 0;

const options: HttpServeOptions = {
  access: {
    kind: "token",
    token: {
      issuer,
      audience,
      keys: { kind: "jwks-file", file: keySetFile },
      userClaim: "sub",
      algorithms: tokenAlgorithms,
      clockToleranceS: 5,
    },
  },
  host: "127.0.0.1",
  port: 0,
  path: "/mcp",
  allowedHosts: [],
  allowedOrigins: [],
  publicUrl: null,
  bodyBytesMax: 1024 * 1024,
  requestsPerMinute: 1_000_000,
  sessionsPerUserMax: 32,
  sessionIdleMs: 30 * 60_000,
  closeGraceMs: 10_000,
};

process.on("message", (order: VectorOrder) => void carryOut(order));
process.once("disconnect", () => void end());

async function carryOut({ epochMs, ...hosted }: VectorOrder): Promise<void> {
  clockMs = epochMs;
  const key = JSON.stringify(hosted);
  const serving = served.get(key) ?? serve(hosted);
  served.set(key, serving);
  const { server } = await serving;
  process.send?.({ url: server.url } satisfies VectorOrdered);
}

async function serve({ plugin, limits, dataDir }: Omit<VectorOrder, "epochMs">): Promise<{
  runtime: Runtime;
  server: HttpServer;
}> {
  const policy = policyFor([plugin], limits);
  const runtime = await createRuntime({ dataDir, plugins: [plugin], policy, clock: () => clockMs, threadsMax: 1 });
  return { runtime, server: await startHttpServer(runtime, options) };
}

async function end(): Promise<void> {
  for (const { runtime, server } of await Promise.all(served.values())) {
    await server.close();
    await runtime.close();
  }
}
