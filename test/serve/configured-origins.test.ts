/** How far a client is trusted at most: the operator says it, or a claim of a verified token. */
import { join } from "node:path";

import type { OriginClass } from "memcell";
import { expect, test } from "vitest";

import { readRecords } from "../audit/audited-stage.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { openSession } from "./http-requests.ts";
import { openHttpStage } from "./http-stage.ts";
import { callAlone, callInSession, classesIn, ofClients, originsIn, originsOf, tokenOf } from "./origin-stage.ts";
import { ServeProcess, entry } from "./serve-process.ts";
import { entriesPath, openStorageStage, writeAgentKeys } from "./storage/stage.ts";

test("without a setting, nobody has said where a text comes from", async () => {
  await using stage = await openHttpStage();
  const token = await tokenOf(stage, { client_id: "web", memcell_origin: "direct_user" });
  await callAlone(stage, token);
  await callInSession(stage, token, { session: await openSession(stage, token) });
  expect(classesIn(stage)).toEqual(["unstated", "unstated"]);
  expect(stage.records().filter(({ kind }) => kind === "staged")).toMatchObject(
    Array.from({ length: 2 }, () => ({ origin: { class: "unstated" } })),
  );
});

test.for(["client_id", "azp"])("the claim %s names the client", async (clientClaim) => {
  await using stage = await openHttpStage({
    originClass: "model_inference",
    token: originsOf({ clientClaim, ofClients }),
  });
  for (const client of ["web", "crawler", "Web", "__proto__", "", undefined]) {
    await callAlone(stage, await tokenOf(stage, { [clientClaim]: client, another: "crawler" }));
  }
  expect(classesIn(stage)).toEqual(["direct_user", "tool_external", ...Array(4).fill("model_inference")]);
});

test("the user can be the client", async () => {
  await using stage = await openHttpStage({ token: originsOf({ clientClaim: "sub", ofClients }) });
  for (const user of ["web", "alice"]) await callAlone(stage, await tokenOf(stage, {}, user));
  expect(classesIn(stage)).toEqual(["direct_user", "unstated"]);
});

const claim = "memcell_origin";

test("a claim says the class, and the lowest of it and the client's counts", async () => {
  await using stage = await openHttpStage({
    originClass: "tool_internal",
    token: originsOf({ ofClients, claim }),
  });
  const rows: readonly (readonly [claims: object, is: OriginClass])[] = [
    [{ [claim]: "owner_edit" }, "owner_edit"],
    [{ [claim]: "untrusted_document" }, "untrusted_document"],
    [{ [claim]: "owner_edit", client_id: "crawler" }, "tool_external"],
    [{ [claim]: "untrusted_document", client_id: "web" }, "untrusted_document"],
    [{ client_id: "web" }, "direct_user"],
    [{}, "tool_internal"],
  ];
  for (const [claims] of rows) await callAlone(stage, await tokenOf(stage, claims));
  expect(classesIn(stage)).toEqual(rows.map(([, is]) => is));
});

test.for([
  { name: "an unknown class", claims: { [claim]: "root" } },
  { name: "a class in other letters", claims: { [claim]: "Direct_User" } },
  { name: "an empty class", claims: { [claim]: "" } },
  { name: "a class that is null", claims: { [claim]: null } },
  { name: "a class that is a number", claims: { [claim]: 1 } },
  { name: "classes in an array", claims: { [claim]: ["direct_user"] } },
  { name: "a client that is an array", claims: { client_id: ["crawler"] } },
  { name: "a client that is null", claims: { client_id: null } },
])("a token with $name is refused", async ({ claims }) => {
  await using stage = await openHttpStage({ originClass: "direct_user", token: originsOf({ ofClients, claim }) });
  const { status, body } = await callAlone(stage, await tokenOf(stage, claims));
  expect([status, body]).toEqual([403, expect.stringContaining("The token names no client, or no class of origin")]);
  expect(stage.refusals.map(({ reason }) => reason)).toEqual(["token-origin"]);
  expect(originsIn(stage.records())).toEqual([]);
});

test("a session remembers no class: each request has that of its own token", async () => {
  await using stage = await openHttpStage({ token: originsOf({ ofClients }) });
  const [web, crawler] = [await tokenOf(stage, { client_id: "web" }), await tokenOf(stage, { client_id: "crawler" })];
  const session = await openSession(stage, web);
  for (const token of [web, crawler, web]) await callInSession(stage, token, { session });
  expect(classesIn(stage)).toEqual(["direct_user", "tool_external", "direct_user"]);
});

test("a client gets no more trust through the storage routes", async () => {
  using folder = temporaryFolder();
  const key = "k".repeat(24);
  await using stage = await openStorageStage(
    { agentKeys: writeAgentKeys(folder.path, { planner: key }) },
    { originClass: "untrusted_document", token: originsOf({ ofClients }) },
  );
  const put = async (headers: Readonly<Record<string, string>>): Promise<unknown> =>
    await stage.ask({
      method: "PUT",
      path: `/api/storage/${entriesPath}/k`,
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify({ value: "v" }),
    });
  for (const claims of [{ client_id: "crawler" }, {}]) {
    await put({ authorization: `Bearer ${await tokenOf(stage, claims)}` });
  }
  await put({ "x-api-key": key });
  expect(classesIn(stage)).toEqual(["tool_external", "untrusted_document", "untrusted_document"]);
});

test("one user is served with the class of the setting, over HTTP and over standard input and output", async () => {
  const access = { kind: "one-user", userId: "alice" } as const;
  await using stage = await openHttpStage({ access, originClass: "direct_user" });
  const client = await stage.client(null);
  await client.callTool({ name: "UpdateUserMemory", arguments: { ...entry("a") } });
  expect(classesIn(stage)).toEqual(["direct_user"]);
  using folder = temporaryFolder();
  const logFile = join(folder.path, "log", "audit.jsonl");
  const args = ["--user", "alice", "--data", folder.path, "--audit-log", logFile, "--origin-class", "tool_internal"];
  await using served = await ServeProcess.open(args);
  await served.call("UpdateUserMemory", entry("a"));
  expect(originsIn(readRecords(logFile)).map((each) => each.class)).toEqual(["tool_internal"]);
});
