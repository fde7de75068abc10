/** Two `memcell serve --http` on one database: what a client of one sees of the other. */
import { once } from "node:events";

import { expect, test } from "vitest";

import { HttpProcess } from "../../stage/http-process.ts";
import { connectClient } from "../../stage/http.ts";
import { audience, issuer, TokenIssuer } from "../../stage/token-issuer.ts";
import { freshDatabase, untilListening } from "../../support/postgres/fresh-database.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

test("a client is told of what the user's client of another server has changed, and of nothing of others", async () => {
  using folder = temporaryFolder();
  await using issuing = await TokenIssuer.start();
  const database = await freshDatabase();
  const args = ["--store", database, "--issuer", issuer, "--audience", audience, "--jwks", issuing.jwksUrl];
  const [one, other] = [1, 2].map(() => new HttpProcess(args, { cwd: folder.path })) as [HttpProcess, HttpProcess];
  const ofOne = async (userId: string) => connectClient(await one.url(), await issuing.token(userId), "legacy");
  const clients = [await ofOne("bob"), await ofOne("alice")];
  const watching = await connectClient(await other.url(), await issuing.token("alice"), "2026-07-28");
  const uri = "memory://user-memory/entry/n1";
  const told = new EventTarget();
  const uris: string[] = [];
  watching.setNotificationHandler("notifications/resources/updated", ({ params }) => {
    uris.push(params.uri);
    told.dispatchEvent(new Event("updated"));
  });
  await watching.listen({ resourceSubscriptions: [uri] });
  await untilListening(database, 1);
  const updated = once(told, "updated");
  for (const client of clients) {
    const entry = { action: "upsert", name: "n1", type: "user", description: "d", body: "of n1" };
    const { isError = false } = await client.callTool({ name: "UpdateUserMemory", arguments: entry });
    expect(isError).toBe(false);
  }
  await updated;
  expect(uris).toEqual([uri]);
  expect(JSON.stringify((await watching.readResource({ uri })).contents)).toContain("of n1");
  for (const client of [...clients, watching]) await client.close();
  await Promise.all([one.end(), other.end()]);
});
