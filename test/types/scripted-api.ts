/** A server on this machine in place of a model's API: it answers each request with the next turn. */
import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";

export interface ScriptedApi extends AsyncDisposable {
  readonly address: string;
  /** The bodies of all requests. */
  readonly requests: unknown[];
}

export async function scriptedApi(turns: readonly unknown[]): Promise<ScriptedApi> {
  const requests: unknown[] = [];
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const turn = turns[requests.push(await json(request)) - 1];
    response.writeHead(turn === undefined ? 400 : 200, { "content-type": "application/json" });
    response.end(JSON.stringify(turn ?? { error: { message: "There is no further turn" } }));
  };
  const server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    address: `http://127.0.0.1:${port}`,
    requests,
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
