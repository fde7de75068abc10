/** A process with all the clients: it connects them, lets them make calls for some time, and reports. */
import { LoadClient } from "./load-client.ts";
import type { LoadReport } from "./load-client.ts";

export interface LoadOrder {
  readonly url: string;
  /** One token for each user. */
  readonly tokens: readonly string[];
  readonly clientsCount: number;
  readonly durationMs: number;
}

/** By client id. Client `c12` belongs to user `12 % tokens.length`. */
export type LoadReports = Record<string, LoadReport>;

process.once("message", (order: LoadOrder) => {
  void load(order).then(
    (reports) => process.send?.(reports, () => process.disconnect()),
    (error: unknown) => {
      throw error;
    },
  );
});

async function load({ url, tokens, clientsCount, durationMs }: LoadOrder): Promise<LoadReports> {
  const clients = Array.from({ length: clientsCount }, (_, at) => ({
    id: `c${at}`,
    token: tokens[at % tokens.length] ?? "",
    client: new LoadClient(`c${at}`, at % 2 === 0),
  }));
  await Promise.all(clients.map(({ client, token }) => client.connect(url, token)));
  const untilMs = performance.now() + durationMs;
  const reports = await Promise.all(
    clients.map(async ({ id, client }) => [id, await client.callUntil(untilMs)] as const),
  );
  await Promise.all(clients.map(({ client }) => client.close()));
  return Object.fromEntries(reports);
}
