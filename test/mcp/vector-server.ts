/**
 * The host behind its own HTTP server, as a process. For each plugin and limits in an order, it creates a runtime with
 * a settable clock, and a server that admits users by their tokens. `vector-orders.ts` has the orders.
 *
 * usage: node vector-server.js URL-OF-THE-KEYS
 */
import { createRuntime, fileStore } from "memcell";
import type { Runtime } from "memcell";

import { startHttpServer } from "../../host/serve/http/start-http-server.ts";
import type { HttpServer } from "../../host/serve/http/start-http-server.ts";
import { RenewedStore } from "../conformance/renewed-store.ts";
import { serveDefaults, tokenOptions } from "../serve/http-stage.ts";
import { policyFor } from "../support/policy-for.ts";
import type { VectorOrder, VectorOrdered } from "./vector-orders.ts";

const [jwksUrl = ""] = process.argv.slice(2);
const access = { kind: "token", token: tokenOptions({ jwksUrl }) } as const;
const served = new Map<string, Promise<Served>>();
let clockMs = 0;

process.on("message", (order: VectorOrder) => void carryOut(order));
process.once("disconnect", () => void end());

interface Served {
  readonly runtime: Runtime;
  readonly server: HttpServer;
  readonly store: RenewedStore;
}

async function carryOut({ epochMs, isRenewed, ...hosted }: VectorOrder): Promise<void> {
  clockMs = epochMs;
  const key = JSON.stringify(hosted);
  const serving = served.get(key) ?? serve(hosted);
  served.set(key, serving);
  const { server, store } = await serving;
  if (isRenewed) await store.renew(fileStore({ dir: hosted.dataDir }));
  process.send?.({ url: server.url } satisfies VectorOrdered);
}

async function serve({ plugin, limits, dataDir }: Omit<VectorOrder, "epochMs" | "isRenewed">): Promise<Served> {
  const policy = policyFor([plugin], limits);
  const renewed = new RenewedStore(fileStore({ dir: dataDir }));
  const { definition: store } = renewed;
  const runtime = await createRuntime({ store, plugins: [plugin], policy, clock: () => clockMs, threadsMax: 1 });
  return { runtime, server: await startHttpServer(runtime, { ...serveDefaults, access }), store: renewed };
}

async function end(): Promise<void> {
  for (const { runtime, server } of await Promise.all(served.values())) {
    await server.close();
    await runtime.close();
  }
}
