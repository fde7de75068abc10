import { once } from "node:events";

import type { LogEntry, Runtime } from "../../api.ts";
import type { HttpServeOptions } from "../serve-options.ts";
import { startHttpServer } from "./start-http-server.ts";

export interface ServeOverHttp {
  readonly runtime: Runtime;
  readonly options: HttpServeOptions;
  /** Ends it, in good order. */
  readonly signal: AbortSignal;
  readonly onLog: (entry: LogEntry) => void;
  /** Told the URL as soon as it listens. */
  readonly onListening: (url: string) => void;
}

/** Serves until the signal says so, and what is under way to its end. The runtime is the caller's to close. */
export async function serveOverHttp({ runtime, options, signal, onLog, onListening }: ServeOverHttp): Promise<void> {
  const server = await startHttpServer(runtime, options, onLog);
  onListening(server.url);
  if (!signal.aborted) await once(signal, "abort");
  await server.close();
}
