/**
 * What the audit log says about where a client's texts come from: how far it is trusted at most, by the operator or a
 * claim of a verified token; what it says itself, which only lowers that; and its run, never another client's.
 */
import { join } from "node:path";

import type { OriginClass } from "memcell";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";

import { blocksIn } from "../documents/markdown-table.ts";
import { textOf } from "../documents/tracked-files.ts";
import { legacyRequest, modernRequest } from "../stage/http-requests.ts";
import type { Answer } from "../stage/http-requests.ts";
import { openHttpStage, writeAgentKeys } from "../stage/http.ts";
import type { HttpStage, ServedHttp, ServerOptions, TokenOptions, TokenOrigins } from "../stage/http.ts";
import { readRecords } from "../stage/runtime.ts";
import { ServeLines, entry } from "../stage/serve-lines.ts";

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
  [web, crawler, unnamed] = [
    await tokenOf({ client_id: "web" }),
    await tokenOf({ client_id: "crawler" }),
    await tokenOf(),
  ];
});
beforeEach(() => stage.forget());
afterAll(async () => await stage[Symbol.asyncDispose]());

const ofClients: ReadonlyMap<string, OriginClass> = new Map([
  ["web", "direct_user"],
  ["crawler", "tool_external"],
]);

/** Options for tokens that say something about the origin. */
const originsOf = (changed: Partial<TokenOrigins> = {}): Partial<TokenOptions> => ({
  origins: { clientClaim: "client_id", ofClients, claim: null, ...changed },
});

const tokenOf = (claims: object = {}, user = "alice"): Promise<string> =>
  stage.issuer.token(user, { claims: { ...claims } });

interface Update {
  readonly name: string;
  readonly arguments: object;
  readonly _meta?: object;
}

/** A tool call that writes an entry. Other fields of `_meta` and of the input can be added. */
const update = (_meta: object = {}, input: object = {}): Update => ({
  name: "UpdateUserMemory",
  arguments: { ...entry("a"), ...input },
  _meta,
});

/** Calls a tool as a client of 2026-07-28. */
function callAlone(served: ServedHttp, token: string, params = update(), headers = {}): Promise<Answer> {
  const { _meta, ...rest } = params;
  const sent = modernRequest(token, "tools/call", { params: rest, asked: { headers } });
  const message = JSON.parse(String(sent.body)) as { params: { _meta: object } };
  Object.assign(message.params._meta, _meta);
  return served.ask({ ...sent, body: JSON.stringify(message) });
}

/** Calls a tool as a client of a 2025 revision. */
const callIn2025 = (served: ServedHttp, token: string, params: object = update(), headers = {}): Promise<Answer> =>
  served.ask(legacyRequest(token, { id: 1, method: "tools/call", params }, { headers }));

interface RecordedOrigin {
  readonly class: OriginClass;
  readonly run: string;
}

/** The origin of each recorded call, in order. */
const originsIn = (records: readonly object[]): RecordedOrigin[] =>
  (records as readonly { readonly kind: string; readonly origin?: RecordedOrigin }[]).flatMap(({ kind, origin }) =>
    kind === "call" && origin ? [origin] : [],
  );
const classes = (): OriginClass[] => originsIn(stage.records()).map((each) => each.class);
const runs = (): string[] => originsIn(stage.records()).map(({ run }) => run);

test("without a setting, nobody has said where a text comes from", async () => {
  const token = await tokenOf({ client_id: "web", memcell_origin: "direct_user" });
  await callAlone(stage, token);
  await callIn2025(stage, token);
  expect(classes()).toEqual(["unstated", "unstated"]);
  const staged = stage.records().filter(({ kind }) => kind === "staged");
  expect(staged).toMatchObject(Array.from({ length: 2 }, () => ({ origin: { class: "unstated" } })));
});

const claim = "memcell_origin";

test.for<{
  readonly name: string;
  readonly options: ServerOptions;
  /** The claims of each token, and the class of its calls. */
  readonly told: readonly (readonly [claims: object, is: OriginClass, user?: string])[];
}>([
  {
    name: "the claim azp names the client",
    options: { originClass: "model_inference", token: originsOf({ clientClaim: "azp" }) },
    told: [
      [{ azp: "web", client_id: "crawler" }, "direct_user"],
      [{ azp: "crawler", client_id: "web" }, "tool_external"],
      ...["Web", "__proto__", "", undefined].map((azp) => [{ azp, client_id: "crawler" }, "model_inference"] as const),
    ],
  },
  {
    name: "the user can be the client",
    options: { token: originsOf({ clientClaim: "sub" }) },
    told: [
      [{}, "direct_user", "web"],
      [{}, "unstated", "alice"],
    ],
  },
  {
    name: "a claim says the class, and the lowest of it and the client's counts",
    options: { originClass: "tool_internal", token: originsOf({ claim }) },
    told: [
      [{ [claim]: "owner_edit" }, "owner_edit"],
      [{ [claim]: "owner_edit", client_id: "crawler" }, "tool_external"],
      [{ [claim]: "untrusted_document", client_id: "web" }, "untrusted_document"],
      [{ client_id: "web" }, "direct_user"],
      [{}, "tool_internal"],
    ],
  },
])("$name", async ({ options, told }) => {
  await using served = await stage.serve(options);
  for (const [claims, , user] of told) await callAlone(served, await tokenOf(claims, user));
  expect(classes()).toEqual(told.map(([, is]) => is));
});

test.for<readonly [name: string, claims: object]>([
  ["an unknown class", { [claim]: "root" }],
  ["a class in other letters", { [claim]: "Direct_User" }],
  ["a class that is null", { [claim]: null }],
  ["classes in an array", { [claim]: ["direct_user"] }],
  ["a client that is an array", { client_id: ["crawler"] }],
])("a token with %s is refused", async ([, claims]) => {
  await using served = await stage.serve({ originClass: "direct_user", token: originsOf({ claim }) });
  expect((await callAlone(served, await tokenOf(claims))).status).toBe(403);
  expect(stage.refusals.map(({ reason }) => reason)).toEqual(["token-origin"]);
  expect(classes()).toEqual([]);
});

test("nothing remembers a class: each request has that of its own token", async () => {
  for (const token of [web, crawler, web]) await callIn2025(known, token);
  expect(classes()).toEqual(["direct_user", "tool_external", "direct_user"]);
});

const put = async (served: ServedHttp, headers: object): Promise<Answer> =>
  await served.ask({
    method: "PUT",
    path: "/api/storage/memory/k",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify({ value: "v" }),
  });

test("a client gets no more trust through the storage routes, and is in the same run there", async () => {
  const agentKey = "k".repeat(24);
  const storage = { agentKeys: writeAgentKeys(stage.folder, { planner: agentKey }) };
  await using served = await stage.serve({ storage, originClass: "untrusted_document", token: originsOf() });
  for (const token of [crawler, unnamed]) await put(served, { authorization: `Bearer ${token}` });
  await put(served, { "x-api-key": agentKey });
  expect(classes()).toEqual(["tool_external", "untrusted_document", "untrusted_document"]);
  await callAlone(served, crawler);
  expect(runs().at(-1)).toBe(runs()[0]);
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
  const stated = { class: "untrusted_document", turn: "3", source: "https://example.com/menu" };
  const exposedTo = ["untrusted_document", "direct_user"];
  const params = update({ [key]: { ...stated, exposedTo: [...exposedTo, "direct_user"] } });
  const expected = { ...stated, exposedTo, run: expect.any(String) as unknown };
  await callAlone(known, crawler, params);
  expect(lastOrigin()).toEqual(expected);
  await callIn2025(known, crawler, params);
  expect(lastOrigin()).toEqual(expected);
});

test("the lowest of all that is said is the trust of what is written", async () => {
  const trusting = await tokenOf({ client_id: "web" }, "trusting");
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

test.for<readonly [how: string, params: Update, headers?: Readonly<Record<string, string>>]>([
  ["its statement", update({ [key]: { class: wanted } })],
  ["what its model has seen", update({ [key]: { exposedTo: [wanted] } })],
  ["other fields of _meta", update({ origin: wanted, class: wanted, "memcell.origin": wanted })],
  ["the input of a tool", update({}, { origin: { class: wanted }, _meta: { [key]: wanted } })],
  ["a field beside the input", Object.assign(update(), { origin: { class: wanted }, exposedTo: [wanted] })],
  ["a header", update(), { "memcell-origin": wanted, "mcp-param-origin": wanted, client_id: "web" }],
  ["its name", update({ "io.modelcontextprotocol/clientInfo": clientInfo })],
])("a client that is trusted as tool_external is not trusted more by %s", async ([, params, headers = {}]) => {
  await callAlone(known, crawler, params, headers);
  await callIn2025(known, crawler, params, headers);
  expect(classes()).toEqual(["tool_external", "tool_external"]);
});

test.for<readonly [stated: unknown]>([
  [{ class: "root" }],
  [{ class: null }],
  [{ userId: "bob" }],
  [{ run: "r".repeat(129) }],
  [{ turn: 3 }],
  [{ source: "é" }],
  [{ exposedTo: ["web"] }],
  [{ exposedTo: Array<string>(17).fill(wanted) }],
  [wanted],
  [null],
  [[]],
])("a statement that is unfit fails its call: %j", async ([stated]) => {
  const userId = "failing";
  const own = await tokenOf({ client_id: "web" }, userId);
  const params = update({ [key]: stated });
  for (const { body } of [await callAlone(stage, own, params), await callIn2025(stage, own, params)]) {
    const issues = [{ field: '_meta["memcell/origin"]' }];
    const failure = { code: "INPUT_INVALID", retryable: false, issues };
    expect(JSON.parse(body)).toMatchObject({ result: { isError: true, _meta: { "memcell/error": failure } } });
  }
  const refusal = { surface: "mcp", reason: "origin-unfit", userId };
  expect(stage.refusals).toEqual([refusal, refusal]);
  expect(await stage.runtime.upkeep.history({ userId })).toEqual([]);
});

test("an unfit statement fails resources and prompts as well, and does not look like a missing entry", async () => {
  const own = await tokenOf({ client_id: "web" }, "reading");
  await callAlone(stage, own);
  const ref = { type: "ref/resource", uri: "memory://user-memory/entry/{name}" };
  for (const [method, params] of [
    ["resources/read", { uri: "memory://index" }],
    ["resources/read", { uri: "memory://user-memory/entry/a" }],
    ["resources/list", {}],
    ["prompts/get", { name: "memory" }],
    ["completion/complete", { ref, argument: { name: "name", value: "" } }],
  ] as const) {
    const message = { id: 1, method, params: { ...params, _meta: { [key]: { class: "root" } } } };
    const { body } = await stage.ask(legacyRequest(own, message));
    expect(JSON.parse(body)).toMatchObject({ error: { code: -32_603, data: { code: "INPUT_INVALID" } } });
  }
});

const running = (run: string): Update => update({ [key]: { run } });

test("a run that a client states goes on in either revision, and is no other client's", async () => {
  const params = running("7");
  for (const token of [web, web, crawler, unnamed]) await callIn2025(stage, token, params);
  await callAlone(stage, web, params);
  const [ofWeb = "", again, , ofUnnamed = "", alone] = runs();
  expect(ofWeb).toMatch(/^client-[0-9a-f]{16}\.7$/);
  expect([again, alone]).toEqual([ofWeb, ofWeb]);
  expect(ofUnnamed).toBe("client-unknown.7");
  expect(new Set(runs()).size).toBe(3);
  // Nor can a client state what the host has called a run of another.
  for (const run of [ofWeb, ofUnnamed]) await callAlone(stage, crawler, running(run));
  for (const run of runs().slice(5)) expect(runs().slice(0, 5)).not.toContain(run);
});

test("the requests of a client are one run, in either revision, whatever session they name", async () => {
  for (const token of [web, web, crawler, unnamed]) await callAlone(stage, token);
  await callIn2025(stage, web, update(), { "mcp-session-id": "00000000-0000-0000-0000-000000000000" });
  const [ofWeb = "", again, ofCrawler = "", ofUnnamed, in2025] = runs();
  expect([again, in2025]).toEqual([ofWeb, ofWeb]);
  for (const run of [ofWeb, ofCrawler]) expect(run).toMatch(/^client-[0-9a-f]{16}$/);
  expect(ofCrawler).not.toBe(ofWeb);
  expect(ofUnnamed).toBe("client-unknown");
});

test("one user is served over HTTP with the class of the setting", async () => {
  const access = { kind: "one-user", userId: "alice" } as const;
  await using served = await stage.serve({ access, originClass: "direct_user" });
  await (await served.client(null)).callTool({ name: "UpdateUserMemory", arguments: { ...entry("a") } });
  expect(classes()).toEqual(["direct_user"]);
});

test("a process over standard input and output has the class of the setting at most, and is a run", async () => {
  const logFile = join(stage.folder, "log", "lines.jsonl");
  const args = ["--data", join(stage.folder, "of-one"), "--audit-log", logFile, "--origin-class", "tool_external"];
  const calls = [
    update(),
    running("r".repeat(128)),
    running(`${"r".repeat(127)}s`),
    update({ [key]: { class: "owner_edit", run: "7" } }),
    update({ [key]: { class: "untrusted_document" } }),
  ];
  for (const _ of [1, 2]) {
    await using served = await ServeLines.open(["--user", "alice", ...args], clientInfo);
    for (const params of calls) await served.ask("tools/call", params);
    served.write('{"jsonrpc":"2.0","id":"twice","method":"ping","method":"ping"}\n');
    expect(await served.reply("twice")).toMatchObject({ error: { code: -32_700 } });
  }
  const records = readRecords(logFile);
  expect(records.filter(({ kind }) => kind === "refused")).toMatchObject([
    { surface: "mcp", reason: "line-unfit", userId: "alice" },
    { surface: "mcp", reason: "line-unfit", userId: "alice" },
  ]);
  const labels = { via: "mcp-stdio", client: "web/direct_user" };
  expect(records.find(({ kind }) => kind === "call")).toMatchObject({ labels });
  const told = originsIn(records);
  const expected = ["tool_external", "tool_external", "tool_external", "tool_external", "untrusted_document"];
  expect(told.map((each) => each.class)).toEqual([...expected, ...expected]);
  const [first = "", long = "", other = "", seventh, again, second] = told.map(({ run }) => run);
  expect(first).toMatch(/^session-[0-9a-f]{16}$/);
  expect([seventh, again]).toEqual([`${first}.7`, first]);
  // Runs of every allowed length are told apart, as are processes.
  expect(new Set([first, second, long, other]).size).toBe(4);
  for (const run of [long, other]) expect(run.length).toBeLessThanOrEqual(128);
});
