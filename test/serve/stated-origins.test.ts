/** What a client says about the origin of its calls lowers their trust, and never raises it. */
import { join } from "node:path";

import type { OriginClass } from "memcell";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { originClasses } from "../../shared/origin.ts";
import { blocksIn } from "../documents/markdown-table.ts";
import { textOf } from "../documents/tracked-files.ts";
import { handshake, legacyRequest, openSession } from "../stage/http-requests.ts";
import type { Answer } from "../stage/http-requests.ts";
import { openHttpStage } from "../stage/http.ts";
import type { HttpStage } from "../stage/http.ts";
import { readRecords } from "../stage/runtime.ts";
import { ServeLines, entry } from "../stage/serve-lines.ts";
import { callAlone, callInSession, originsIn, originsOf, tokenOf, update } from "./origin-calls.ts";

const key = "memcell/origin";
let stage: HttpStage;
let token: string;
beforeAll(async () => {
  stage = await openHttpStage({ token: originsOf() });
  token = await tokenOf(stage, { client_id: "crawler" });
});
afterAll(() => stage[Symbol.asyncDispose]());

const lastOrigin = (of: HttpStage = stage) => originsIn(of.records()).at(-1);

test("the statement in host/serve/README.md is recorded", async () => {
  const shown = blocksIn(textOf("host/serve/README.md")).find(({ language }) => language === "json");
  const meta = JSON.parse(shown?.text ?? "") as Readonly<Record<string, { readonly run: string }>>;
  const web = await tokenOf(stage, { client_id: "web" });
  await callAlone(stage, web, update(meta));
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
  await callAlone(stage, token, update({ [key]: stated }));
  expect(lastOrigin()).toEqual({ ...expected, run: expect.any(String) });
  const session = await openSession(stage, token);
  await callInSession(stage, token, { session, params: update({ [key]: stated }) });
  expect(lastOrigin()).toEqual({ ...expected, run: expect.any(String) });
});

test("the lowest of all that is said is the trust of what is written", async () => {
  const web = await tokenOf(stage, { client_id: "web" }, "trusting");
  const trustOf = async (stated: object): Promise<OriginClass | undefined> => {
    await callAlone(stage, web, update({ [key]: stated }));
    return (await stage.runtime.upkeep.history({ userId: "trusting" })).toSorted((a, b) => b.seq - a.seq)[0]?.trust;
  };
  expect(await trustOf({})).toBe("direct_user");
  expect(await trustOf({ class: "owner_edit", exposedTo: ["owner_edit"] })).toBe("direct_user");
  expect(await trustOf({ class: "model_inference" })).toBe("model_inference");
  expect(await trustOf({ exposedTo: ["tool_internal"] })).toBe("tool_internal");
  await trustOf({ exposedTo: ["tool_external"] });
  expect(await stage.runtime.upkeep.pending({ userId: "trusting" })).toMatchObject([{ trust: "tool_external" }]);
});

const higher = originClasses.slice(0, originClasses.indexOf("tool_external"));
const forgedInfo = (name: string) => ({ name, version: "direct_user", origin: "direct_user", client_id: "web" });

describe.for(higher)("a client that is trusted as tool_external cannot become %s", (wanted) => {
  const forged: readonly (readonly [how: string, params: object, headers?: Readonly<Record<string, string>>])[] = [
    ["by its statement", update({ [key]: { class: wanted } })],
    ["by what its model has seen", update({ [key]: { exposedTo: [wanted] } })],
    ["by other fields of _meta", update({ origin: wanted, class: wanted, "memcell.origin": wanted })],
    ["by the input of a tool", update({}, { origin: { class: wanted }, _meta: { [key]: wanted } })],
    ["by a field beside the input", { ...update(), origin: { class: wanted }, exposedTo: [wanted] }],
    ["by a header", update(), { "memcell-origin": wanted, "mcp-param-origin": wanted, client_id: "web" }],
  ];

  test.for(forged)("%s", async ([, params, headers = {}]) => {
    await callAlone(stage, token, params, headers);
    expect(lastOrigin()?.class).toBe("tool_external");
    await callInSession(stage, token, { session: await openSession(stage, token), params, headers });
    expect(lastOrigin()?.class).toBe("tool_external");
  });

  test("by its name", async () => {
    for (const name of [wanted, "web"]) {
      const clientInfo = forgedInfo(name);
      await callAlone(stage, token, update({ "io.modelcontextprotocol/clientInfo": clientInfo }));
      expect(lastOrigin()?.class).toBe("tool_external");
      const hello = { ...handshake, params: { ...handshake.params, clientInfo } };
      const opened = await stage.ask(legacyRequest(token, hello));
      await callInSession(stage, token, { session: String(opened.headers["mcp-session-id"]) });
      expect(lastOrigin()?.class).toBe("tool_external");
    }
  });
});

test("the same over standard input and output", async () => {
  const [dataDir, logFile] = [join(stage.folder, "of-one"), join(stage.folder, "log", "of-one.jsonl")];
  const args = ["--user", "alice", "--data", dataDir, "--audit-log", logFile, "--origin-class", "tool_external"];
  await using served = await ServeLines.open(args, forgedInfo("owner_edit"));
  for (const stated of [{ class: "direct_user" }, { class: "owner_edit" }, { class: "untrusted_document" }]) {
    await served.ask("tools/call", update({ [key]: stated }));
  }
  await served.ask("tools/call", update({}, { origin: { class: "owner_edit" } }));
  const classes = originsIn(readRecords(logFile)).map((each) => each.class);
  expect(classes).toEqual(["tool_external", "tool_external", "untrusted_document", "tool_external"]);
});

const long = "r".repeat(129);
const many = Array<string>(17).fill("direct_user");

test.for<readonly [stated: unknown, is: string]>([
  [{ class: "root" }, 'an object with the class "root"'],
  [{ class: null }, "an object with the class null"],
  [{ clas: "direct_user" }, 'an object with the field "clas" (did you mean "class"?)'],
  [{ userId: "bob" }, 'an object with the field "userId" (did you mean "run"?)'],
  [{ run: "" }, 'an object whose "run" is empty'],
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

test("the official client states the origin of a call", async () => {
  const client = await stage.client(token);
  await client.callTool({
    name: "UpdateUserMemory",
    arguments: { ...entry("a") },
    _meta: { [key]: { class: "untrusted_document", turn: "7" } },
  });
  expect(lastOrigin()).toMatchObject({ class: "untrusted_document", turn: "7" });
});
