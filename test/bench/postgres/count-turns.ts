import { createServer, connect } from "node:net";
import { join } from "node:path";

import { temporaryFolder } from "../../support/temporary-folder.ts";

export interface TurnCounter extends AsyncDisposable {
  /** The folder of the socket to connect to. */
  readonly folder: string;
  /** How often the client has sent something after the server had answered, on all connections together. */
  turns: number;
}

/** A socket in front of a server's: it counts the round trips of whoever connects to it. */
export async function countTurns(serverSocket: string): Promise<TurnCounter> {
  const folder = temporaryFolder();
  const counter = {
    folder: folder.path,
    turns: 0,
    [Symbol.asyncDispose]: async (): Promise<void> => {
      server.close();
      folder[Symbol.dispose]();
    },
  };
  const server = createServer((client) => {
    const behind = connect(serverSocket);
    let isAnswered = true;
    client.on("data", (data) => {
      if (isAnswered) counter.turns++;
      isAnswered = false;
      behind.write(data);
    });
    behind.on("data", (data) => {
      isAnswered = true;
      client.write(data);
    });
    client.on("close", () => behind.destroy());
    behind.on("close", () => client.destroy());
    client.on("error", () => {});
    behind.on("error", () => {});
  });
  await new Promise<void>((resolve) => {
    server.listen(join(folder.path, ".s.PGSQL.5432"), resolve);
  });
  return counter;
}
