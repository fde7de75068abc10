/** Two `memcell serve --http` on one database: what a client of one sees of the other, and how they are restarted. */
import { once } from "node:events";

import { expect, test } from "vitest";

import { HttpProcess } from "../../stage/http-process.ts";
import { connectClient } from "../../stage/http.ts";
import { audience, issuer, TokenIssuer } from "../../stage/token-issuer.ts";
import { freshDatabase, untilListening } from "../../support/postgres/fresh-database.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

type Client = Awaited<ReturnType<typeof connectClient>>;

interface Stage extends AsyncDisposable {
  readonly database: string;
  /** A server on the database that all servers of the stage share. */
  serve(): HttpProcess;
  connect(server: HttpProcess, userId: string, mode?: "2026-07-28" | "legacy"): Promise<Client>;
}

async function openStage(): Promise<Stage> {
  const folder = temporaryFolder();
  const issuing = await TokenIssuer.start();
  const database = await freshDatabase();
  const args = ["--store", database, "--issuer", issuer, "--audience", audience, "--jwks", issuing.jwksUrl];
  const [servers, clients]: [HttpProcess[], Client[]] = [[], []];
  return {
    database,
    serve() {
      const server = new HttpProcess(args, { cwd: folder.path });
      servers.push(server);
      return server;
    },
    async connect(server, userId, mode = "legacy") {
      const client = await connectClient(await server.url(), await issuing.token(userId), mode);
      clients.push(client);
      return client;
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(clients.map((client) => client.close()));
      await Promise.all(servers.map((server) => server.end()));
      await issuing[Symbol.asyncDispose]();
      folder[Symbol.dispose]();
    },
  };
}

async function remember(client: Client, name: string): Promise<void> {
  const entry = { action: "upsert", name, type: "user", description: "d", body: `of ${name}` };
  const { isError } = await client.callTool({ name: "UpdateUserMemory", arguments: entry });
  expect(isError ?? false).toBe(false);
}

test("a client is told of what the user's client of another server has changed, and of nothing of others", async () => {
  await using stage = await openStage();
  const [one, other] = [stage.serve(), stage.serve()];
  const uri = "memory://user-memory/entry/n1";
  const watching = await stage.connect(other, "alice", "2026-07-28");
  const told = new EventTarget();
  const uris: string[] = [];
  watching.setNotificationHandler("notifications/resources/updated", ({ params }) => {
    uris.push(params.uri);
    told.dispatchEvent(new Event("updated"));
  });
  await watching.listen({ resourceSubscriptions: [uri] });
  await untilListening(stage.database, 1);
  const updated = once(told, "updated");
  await remember(await stage.connect(one, "bob"), "n1");
  await remember(await stage.connect(one, "alice"), "n1");
  await updated;
  expect(uris).toEqual([uri]);
  const { contents } = await watching.readResource({ uri });
  expect(JSON.stringify(contents)).toContain("of n1");
});
