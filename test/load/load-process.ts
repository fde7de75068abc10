/** A process with all the clients: it connects them, lets them make calls for some time, and reports. */
import { LoadClient } from "./load-client.ts";

export interface LoadOrder {
  readonly url: string;
  /** One token for each user. Client `c12` belongs to user `12 % tokens.length`. */
  readonly tokens: readonly string[];
  readonly clientsCount: number;
  readonly durationMs: number;
}

process.once("message", (order: LoadOrder) => void load(order));

async function load({ url, tokens, clientsCount, durationMs }: LoadOrder): Promise<void> {
  const clients = Array.from({ length: clientsCount }, (_, at) => new LoadClient(`c${at}`, at % 2 === 0));
  await Promise.all(clients.map((client, at) => client.connect(url, tokens[at % tokens.length] ?? "")));
  const untilMs = performance.now() + durationMs;
  await Promise.all(clients.map((client) => client.callUntil(untilMs)));
  await Promise.all(clients.map((client) => client.close()));
  process.send?.(
    clients.map(({ report }) => report),
    () => process.disconnect(),
  );
}
