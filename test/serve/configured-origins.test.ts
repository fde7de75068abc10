/** How far a client is trusted at most: the operator says it, or a claim of a verified token. */
import { join } from "node:path";

import type { OriginClass } from "memcell";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";

import { openSession } from "../stage/http-requests.ts";
import { openHttpStage, writeAgentKeys } from "../stage/http.ts";
import type { HttpStage, ServerOptions } from "../stage/http.ts";
import { readRecords } from "../stage/runtime.ts";
import { ServeLines, entry } from "../stage/serve-lines.ts";
import { callAlone, callInSession, classesIn, originsIn, originsOf, tokenOf } from "./origin-calls.ts";

let stage: HttpStage;
beforeAll(async () => {
  stage = await openHttpStage();
});
beforeEach(() => stage.forget());
afterAll(async () => await stage[Symbol.asyncDispose]());

test("without a setting, nobody has said where a text comes from", async () => {
  const token = await tokenOf(stage, { client_id: "web", memcell_origin: "direct_user" });
  await callAlone(stage, token);
  await callInSession(stage, token, { session: await openSession(stage, token) });
  expect(classesIn(stage)).toEqual(["unstated", "unstated"]);
  const staged = stage.records().filter(({ kind }) => kind === "staged");
  expect(staged).toMatchObject(Array.from({ length: 2 }, () => ({ origin: { class: "unstated" } })));
});

const claim = "memcell_origin";

interface Row {
  readonly name: string;
  readonly options: ServerOptions;
  /** The claims of each token, and the class of its calls. */
  readonly classes: readonly (readonly [claims: object, is: OriginClass, user?: string])[];
}

const named = (clientClaim: string): Row => ({
  name: `the claim ${clientClaim} names the client`,
  options: { originClass: "model_inference", token: originsOf({ clientClaim }) },
  classes: [
    [{ [clientClaim]: "web", another: "crawler" }, "direct_user"],
    [{ [clientClaim]: "crawler", another: "web" }, "tool_external"],
    ...["Web", "__proto__", "", undefined].map(
      (client) => [{ [clientClaim]: client, another: "crawler" }, "model_inference"] as const,
    ),
  ],
});

test.for<Row>([
  named("client_id"),
  named("azp"),
  {
    name: "the user can be the client",
    options: { token: originsOf({ clientClaim: "sub" }) },
    classes: [
      [{}, "direct_user", "web"],
      [{}, "unstated", "alice"],
    ],
  },
  {
    name: "a claim says the class, and the lowest of it and the client's counts",
    options: { originClass: "tool_internal", token: originsOf({ claim }) },
    classes: [
      [{ [claim]: "owner_edit" }, "owner_edit"],
      [{ [claim]: "untrusted_document" }, "untrusted_document"],
      [{ [claim]: "owner_edit", client_id: "crawler" }, "tool_external"],
      [{ [claim]: "untrusted_document", client_id: "web" }, "untrusted_document"],
      [{ client_id: "web" }, "direct_user"],
      [{}, "tool_internal"],
    ],
  },
])("$name", async ({ options, classes }) => {
  await using served = await stage.serve(options);
  for (const [claims, , user] of classes) await callAlone(served, await tokenOf(stage, claims, user));
  expect(classesIn(stage)).toEqual(classes.map(([, is]) => is));
});

test.for<readonly [name: string, claims: object]>([
  ["an unknown class", { [claim]: "root" }],
  ["a class in other letters", { [claim]: "Direct_User" }],
  ["an empty class", { [claim]: "" }],
  ["a class that is null", { [claim]: null }],
  ["a class that is a number", { [claim]: 1 }],
  ["classes in an array", { [claim]: ["direct_user"] }],
  ["a client that is an array", { client_id: ["crawler"] }],
  ["a client that is null", { client_id: null }],
])("a token with %s is refused", async ([, claims]) => {
  await using served = await stage.serve({ originClass: "direct_user", token: originsOf({ claim }) });
  const { status, body } = await callAlone(served, await tokenOf(stage, claims));
  expect([status, body]).toEqual([403, expect.stringContaining("The token names no client, or no class of origin")]);
  expect(stage.refusals.map(({ reason }) => reason)).toEqual(["token-origin"]);
  expect(classesIn(stage)).toEqual([]);
});

test("a session remembers no class: each request has that of its own token", async () => {
  await using served = await stage.serve({ token: originsOf() });
  const [web, crawler] = [await tokenOf(stage, { client_id: "web" }), await tokenOf(stage, { client_id: "crawler" })];
  const session = await openSession(served, web);
  for (const token of [web, crawler, web]) await callInSession(served, token, { session });
  expect(classesIn(stage)).toEqual(["direct_user", "tool_external", "direct_user"]);
});

test("a client gets no more trust through the storage routes", async () => {
  const key = "k".repeat(24);
  const storage = { agentKeys: writeAgentKeys(stage.folder, { planner: key }) };
  await using served = await stage.serve({ storage, originClass: "untrusted_document", token: originsOf() });
  const put = async (headers: object): Promise<unknown> =>
    await served.ask({
      method: "PUT",
      path: "/api/storage/memory/k",
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
  await using served = await stage.serve({ access, originClass: "direct_user" });
  await (await served.client(null)).callTool({ name: "UpdateUserMemory", arguments: { ...entry("a") } });
  expect(classesIn(stage)).toEqual(["direct_user"]);
  const [dataDir, logFile] = [join(stage.folder, "of-one"), join(stage.folder, "log", "of-one.jsonl")];
  const args = ["--user", "alice", "--data", dataDir, "--audit-log", logFile, "--origin-class", "tool_internal"];
  await using lines = await ServeLines.open(args);
  await lines.call("UpdateUserMemory", entry("a"));
  expect(originsIn(readRecords(logFile)).map((each) => each.class)).toEqual(["tool_internal"]);
});
