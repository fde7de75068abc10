/**
 * What the audit log says about where a client's texts come from: how far it is trusted at most, by the operator or a
 * claim of a verified token; what it says itself, which only lowers that; and its run, never another client's.
 */
import { join } from "node:path";

import type { OriginClass } from "memcell";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";

import { originClasses } from "../../shared/origin.ts";
import { blocksIn } from "../documents/markdown-table.ts";
import { textOf } from "../documents/tracked-files.ts";
import { handshake, legacyRequest, openSession } from "../stage/http-requests.ts";
import type { Answer } from "../stage/http-requests.ts";
import { openHttpStage, writeAgentKeys } from "../stage/http.ts";
import type { HttpStage, ServedHttp, ServerOptions } from "../stage/http.ts";
import { readRecords } from "../stage/runtime.ts";
import { ServeLines, entry } from "../stage/serve-lines.ts";
import { callAlone, callInSession, classesIn, originsIn, originsOf, runsIn, tokenOf, update } from "./origin-calls.ts";

let stage: HttpStage;
/** Knows the classes of two clients. */
let known: ServedHttp;
/** Tokens of these clients, and one that names none. */
let web: string;
let crawler: string;
let unnamed: string;
beforeAll(async () => {
  stage = await openHttpStage({ storage: {} });
  known = await stage.serve({ storage: {}, token: originsOf() });
  web = await tokenOf(stage, { client_id: "web" });
  crawler = await tokenOf(stage, { client_id: "crawler" });
  unnamed = await tokenOf(stage);
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
  const session = await openSession(known, web);
  for (const token of [web, crawler, web]) await callInSession(known, token, { session });
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
  for (const token of [crawler, unnamed]) await put({ authorization: `Bearer ${token}` });
  await put({ "x-api-key": key });
  expect(classesIn(stage)).toEqual(["tool_external", "untrusted_document", "untrusted_document"]);
});

const key = "memcell/origin";
const lastOrigin = () => originsIn(stage.records()).at(-1);

test("the statement in host/serve/README.md is recorded", async () => {
  const shown = blocksIn(textOf("host/serve/README.md")).find(({ language }) => language === "json");
  const meta = JSON.parse(shown?.text ?? "") as Readonly<Record<string, { readonly run: string }>>;
  await callAlone(known, web, update(meta));
  expect(lastOrigin()).toEqual({ ...meta[key], run: expect.stringMatching(/^client-[0-9a-f]{16}\.7$/) });
});

test("a client lowers the class, and says the turn, the source and what its model has seen", async () => {
  const stated = {
    class: "untrusted_document",
    turn: "3",
    source: "https://example.com/menu",
    exposedTo: ["untrusted_document", "direct_user", "direct_user"],
  };
  const expected = { ...stated, exposedTo: ["untrusted_document", "direct_user"] };
  await callAlone(known, crawler, update({ [key]: stated }));
  expect(lastOrigin()).toEqual({ ...expected, run: expect.any(String) });
  const session = await openSession(known, crawler);
  await callInSession(known, crawler, { session, params: update({ [key]: stated }) });
  expect(lastOrigin()).toEqual({ ...expected, run: expect.any(String) });
});

test("the lowest of all that is said is the trust of what is written", async () => {
  const trusting = await tokenOf(stage, { client_id: "web" }, "trusting");
  const trustOf = async (stated: object): Promise<OriginClass | undefined> => {
    await callAlone(known, trusting, update({ [key]: stated }));
    return (await stage.runtime.upkeep.history({ userId: "trusting" })).toSorted((a, b) => b.seq - a.seq)[0]?.trust;
  };
  expect(await trustOf({})).toBe("direct_user");
  expect(await trustOf({ class: "owner_edit", exposedTo: ["owner_edit"] })).toBe("direct_user");
  expect(await trustOf({ class: "model_inference" })).toBe("model_inference");
  expect(await trustOf({ exposedTo: ["tool_internal"] })).toBe("tool_internal");
  await trustOf({ exposedTo: ["tool_external"] });
  expect(await stage.runtime.upkeep.pending({ userId: "trusting" })).toMatchObject([{ trust: "tool_external" }]);
});

const wanted = "direct_user";
const clientInfo = { name: "web", version: wanted, origin: wanted, client_id: "web" };

test.for<readonly [how: string, params: object, headers?: Readonly<Record<string, string>>]>([
  ...originClasses
    .slice(0, originClasses.indexOf("tool_external"))
    .map((higher) => [`its statement of ${higher}`, update({ [key]: { class: higher } })] as const),
  ["what its model has seen", update({ [key]: { exposedTo: [wanted] } })],
  ["other fields of _meta", update({ origin: wanted, class: wanted, "memcell.origin": wanted })],
  ["the input of a tool", update({}, { origin: { class: wanted }, _meta: { [key]: wanted } })],
  ["a field beside the input", { ...update(), origin: { class: wanted }, exposedTo: [wanted] }],
  ["a header", update(), { "memcell-origin": wanted, "mcp-param-origin": wanted, client_id: "web" }],
  ["its name", update({ "io.modelcontextprotocol/clientInfo": clientInfo })],
])("a client that is trusted as tool_external is not trusted more by %s", async ([, params, headers = {}]) => {
  await callAlone(known, crawler, params, headers);
  const hello = { ...handshake, params: { ...handshake.params, clientInfo } };
  const opened = await known.ask(legacyRequest(crawler, hello));
  const session = String(opened.headers["mcp-session-id"]);
  await callInSession(known, crawler, { session, params, headers });
  expect(classesIn(stage)).toEqual(["tool_external", "tool_external"]);
});

const long = "r".repeat(129);
const many = Array<string>(17).fill("direct_user");

test.for<readonly [stated: unknown, is: string]>([
  [{ class: "root" }, 'an object with the class "root"'],
  [{ class: null }, "an object with the class null"],
  [{ clas: "direct_user" }, 'an object with the field "clas" (did you mean "class"?)'],
  [{ userId: "bob" }, 'an object with the field "userId" (did you mean "run"?)'],
  [{ run: long }, 'an object whose "run" is 129 characters long'],
  [{ turn: 3 }, 'an object whose "turn" is of type number'],
  [{ source: "é" }, 'an object whose "source" is not printable ASCII'],
  [{ exposedTo: ["web"] }, 'an object whose "exposedTo" is an array with the class "web"'],
  [{ exposedTo: many }, 'an object whose "exposedTo" is an array of 17 classes'],
  ["direct_user", "of type string"],
  [null, "null"],
  [[], "no plain object"],
])("a statement that is unfit fails its call: %j", async ([stated, value]) => {
  const userId = "failing";
  const own = await tokenOf(stage, { client_id: "web" }, userId);
  const session = await openSession(stage, own);
  stage.forget();
  const params = update({ [key]: stated });
  for (const answer of [await callAlone(stage, own, params), await callInSession(stage, own, { session, params })]) {
    const failure = failureIn(answer);
    expect(failure).toMatchObject({ code: "INPUT_INVALID", retryable: false });
    const message = `Cannot call a tool: _meta["memcell/origin"] is ${value}, allowed: an object with`;
    expect(failure.message).toContain(message);
    expect(failure.issues).toMatchObject([{ field: '_meta["memcell/origin"]', value }]);
  }
  const refusal = { surface: "mcp", reason: "origin-unfit", userId };
  expect(stage.refusals).toEqual([refusal, refusal]);
  expect(await stage.runtime.upkeep.history({ userId })).toEqual([]);
});

interface Failure {
  readonly code: string;
  readonly message: string;
  readonly retryable: boolean;
  readonly issues: readonly object[];
}

function failureIn({ body }: Answer): Failure {
  const { result } = JSON.parse(body) as { result: { isError: true; _meta: { "memcell/error": Failure } } };
  expect(result.isError).toBe(true);
  return result._meta["memcell/error"];
}

test("an unfit statement fails resources and prompts as well, and does not look like a missing entry", async () => {
  const own = await tokenOf(stage, { client_id: "web" }, "reading");
  await callAlone(stage, own);
  const _meta = { [key]: { class: "root" } };
  const session = await openSession(stage, own);
  const ask = async (method: string, params: object): Promise<unknown> => {
    const message = { id: 1, method, params: { ...params, _meta } };
    return (JSON.parse((await stage.ask(legacyRequest(own, message, { session }))).body) as { error: unknown }).error;
  };
  const error = { code: -32_603, data: { code: "INPUT_INVALID", retryable: false } };
  expect(await ask("resources/read", { uri: "memory://index" })).toMatchObject(error);
  expect(await ask("resources/read", { uri: "memory://user-memory/entry/a" })).toMatchObject(error);
  expect(await ask("resources/list", {})).toMatchObject(error);
  expect(await ask("prompts/get", { name: "memory" })).toMatchObject(error);
  const ref = { type: "ref/resource", uri: "memory://user-memory/entry/{name}" };
  expect(await ask("completion/complete", { ref, argument: { name: "name", value: "" } })).toMatchObject(error);
});

const running = (run: string): object => update({ [key]: { run } });

test("each session is a run of its own, whose id does not tell that of the session", async () => {
  const sessions = [await openSession(stage, web), await openSession(stage, web)];
  for (const session of [...sessions, ...sessions]) await callInSession(stage, web, { session });
  const [first = "", second = "", ...again] = runsIn(stage);
  expect(again).toEqual([first, second]);
  expect(first).not.toBe(second);
  for (const run of [first, second]) expect(run).toMatch(/^session-[0-9a-f]{16}$/);
  for (const session of sessions) expect(JSON.stringify(stage.records())).not.toContain(session);
});

test("a run that a client states goes on in its next session, and is no other client's", async () => {
  for (const token of [web, web, crawler, unnamed, unnamed]) {
    await callInSession(stage, token, { session: await openSession(stage, token), params: running("7") });
  }
  await callAlone(stage, web, running("7"));
  const runs = runsIn(stage);
  const [ofWeb] = runs;
  expect(ofWeb).toMatch(/^client-[0-9a-f]{16}\.7$/);
  expect([runs[1], runs[5]]).toEqual([ofWeb, ofWeb]);
  // Nothing verified tells two sessions without a client apart, or together.
  expect(runs[3]).toMatch(/^session-[0-9a-f]{16}\.7$/);
  expect(new Set(runs).size).toBe(4);
});

test("the requests of a client without a session are one run, whatever session they name", async () => {
  for (const token of [web, web, crawler, unnamed]) await callAlone(stage, token);
  await callAlone(stage, web, update(), { "mcp-session-id": await openSession(stage, web) });
  const [ofWeb = "", again, ofCrawler = "", ofUnnamed, inSession] = runsIn(stage);
  expect(ofWeb).toMatch(/^client-[0-9a-f]{16}$/);
  expect([again, inSession]).toEqual([ofWeb, ofWeb]);
  expect(ofCrawler).toMatch(/^client-[0-9a-f]{16}$/);
  expect(ofCrawler).not.toBe(ofWeb);
  expect(ofUnnamed).toBe("client-unknown");
});

test("a client cannot state the run of a session, or of another client", async () => {
  await callInSession(stage, web, { session: await openSession(stage, web) });
  await callAlone(stage, web, running("7"));
  const taken = runsIn(stage);
  for (const run of taken) await callAlone(stage, crawler, running(run));
  for (const run of runsIn(stage).slice(2)) expect(taken).not.toContain(run);
});

test("runs of every allowed length are told apart", async () => {
  const longest = "r".repeat(128);
  for (const run of [longest, `${longest.slice(1)}s`, longest]) await callAlone(stage, web, running(run));
  const [first = "", second = "", third] = runsIn(stage);
  expect(third).toBe(first);
  expect(second).not.toBe(first);
  for (const run of [first, second]) expect(run.length).toBeLessThanOrEqual(128);
});

test("one user is served over HTTP with the class of the setting", async () => {
  const access = { kind: "one-user", userId: "alice" } as const;
  await using served = await stage.serve({ access, originClass: "direct_user" });
  await (await served.client(null)).callTool({ name: "UpdateUserMemory", arguments: { ...entry("a") } });
  expect(classesIn(stage)).toEqual(["direct_user"]);
});

/** The records of calls over standard input and output, where tools are trusted. */
const recordsOver = async (name: string, calls: readonly object[]) => {
  const logFile = join(stage.folder, "log", name);
  const args = ["--data", join(stage.folder, "of-one"), "--audit-log", logFile, "--origin-class", "tool_external"];
  await using served = await ServeLines.open(["--user", "alice", ...args], clientInfo);
  for (const params of calls) await served.ask("tools/call", params);
  return readRecords(logFile);
};

test("a process over standard input and output has the class of the setting at most, and is a run", async () => {
  const records = await recordsOver("one.jsonl", [
    update(),
    update({ [key]: { class: "owner_edit", run: "7" } }),
    update({ [key]: { class: "untrusted_document" } }),
    update({}, { origin: { class: "owner_edit" } }),
  ]);
  const labels = { via: "mcp-stdio", client: "web/direct_user" };
  expect(records.find(({ kind }) => kind === "call")).toMatchObject({ labels });
  const told = originsIn(records);
  const classes = ["tool_external", "tool_external", "untrusted_document", "tool_external"];
  expect(told.map((each) => each.class)).toEqual(classes);
  const [first = "", ...others] = told.map(({ run }) => run);
  expect(first).toMatch(/^session-[0-9a-f]{16}$/);
  expect(others).toEqual([`${first}.7`, first, first]);
  const [again] = originsIn(await recordsOver("two.jsonl", [update()]));
  expect(again?.run).not.toBe(first);
});

test("a client's storage requests are in the run of its requests without a session", async () => {
  await stage.ask({
    method: "PUT",
    path: `/api/storage/memory/k`,
    headers: { authorization: `Bearer ${web}`, "content-type": "application/json" },
    body: JSON.stringify({ value: "v" }),
  });
  await callAlone(stage, web);
  const [storage, mcp] = runsIn(stage);
  expect(storage).toBe(mcp);
});
