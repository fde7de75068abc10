/** The keys that agents send in X-API-Key. */
import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { afterAll, beforeAll, expect, test } from "vitest";

import { blocksIn } from "../../documents/markdown-table.ts";
import { textOf } from "../../documents/tracked-files.ts";
import type { Asked } from "../../stage/http-requests.ts";
import { openHttpStage, writeAgentKeys } from "../../stage/http.ts";
import type { HttpStage, ServedHttp } from "../../stage/http.ts";
import { planner, sharing, weather } from "./agents.ts";

const [weatherKey, plannerKey] = ["weather-key-of-24-chars-or-more", "planner-key-of-24-chars-or-more"];
const hash = createHash("sha256").update(weatherKey).digest("hex");

/** Takes no keys. */
let stage: HttpStage;
let keyed: ServedHttp;
let agentKeys: string;
beforeAll(async () => {
  stage = await openHttpStage(sharing());
  agentKeys = writeAgentKeys(stage.folder, { [weather]: weatherKey, [planner]: plannerKey });
  keyed = await stage.serve({ storage: { agentKeys } });
});
afterAll(async () => await stage[Symbol.asyncDispose]());

const memory = "/api/storage/memory";
const withKey = (key: string | readonly string[], asked: Asked = {}): Asked => ({
  method: "GET",
  path: `${memory}?action=stores`,
  ...asked,
  headers: { "x-api-key": key, ...asked.headers },
});
/** The answer's status and body, and why it was refused. */
async function refusalOf(asked: Asked, by: ServedHttp = keyed): Promise<unknown[]> {
  stage.forget();
  const { status, body } = await by.ask(asked);
  return [status, (JSON.parse(body) as { error: unknown }).error, ...stage.refusals.map(({ reason }) => reason)];
}

test("each identifies its agent, and is in the audit log by the beginning of its hash", async () => {
  const headers = { "content-type": "application/json" };
  const put = { method: "PUT", path: `${memory}/k`, body: '{"value":1}', headers };
  expect(await keyed.ask(withKey(weatherKey, put))).toMatchObject({ status: 200 });
  expect(await keyed.ask(withKey(weatherKey, { path: `${memory}/k` }))).toMatchObject({ status: 200 });
  expect(await keyed.ask(withKey(plannerKey, { path: `${memory}/k` }))).toMatchObject({ status: 404 });
  const labels = { via: "http-storage", key: hash.slice(0, 12) };
  expect(stage.records().find(({ kind, userId }) => kind === "call" && userId === weather)).toMatchObject({ labels });
  expect(JSON.stringify(stage.records())).not.toContain(weatherKey);
});

test.each(["", weatherKey.slice(0, -1), `${weatherKey}x`, hash, `${weatherKey}, ${plannerKey}`, "x".repeat(600)])(
  "%o is none",
  async (key) => {
    expect(await refusalOf(withKey(key))).toEqual([401, "invalid_key", "key-unknown"]);
  },
);

test("they go with no token, are sent once, and open nothing else", async () => {
  const several = "The request has both an Authorization and an X-API-Key header";
  for (const authorization of [`Bearer ${await stage.issuer.token(weather)}`, ""]) {
    const both = withKey(weatherKey, { headers: { authorization } });
    expect(await refusalOf(both)).toEqual([400, several, "credentials-several"]);
  }
  expect((await refusalOf(withKey([weatherKey, weatherKey]))).at(-1)).toBe("header-repeated");
  expect((await refusalOf(withKey(weatherKey, { path: "/mcp", method: "GET" }))).at(-1)).toBe("token-missing");
  const queried = { method: "GET", path: `${memory}?apiKey=${weatherKey}` };
  expect((await refusalOf(queried)).at(-1)).toBe("token-missing");
});

test("they are refused where the operator has named none, also of one user", async () => {
  const unexpected = [400, "This server takes no X-API-Key header", "key-unexpected"];
  expect(await refusalOf(withKey(weatherKey), stage)).toEqual(unexpected);
  const access = { kind: "one-user", userId: weather } as const;
  await using one = await stage.serve({ storage: {}, access });
  expect(await refusalOf(withKey(weatherKey), one)).toEqual(unexpected);
  const starting = stage.serve({ storage: { agentKeys }, access });
  await expect(starting).rejects.toThrow("Cannot use agents' keys for a server of one user");
});

test("too many wrong ones keep an address out, but not its right one", async () => {
  await using fresh = await stage.serve({ storage: { agentKeys } });
  expect(await fresh.ask(withKey(weatherKey))).toMatchObject({ status: 200 });
  for (let at = 0; at < 300; at++) await fresh.ask(withKey(`wrong-key-of-24-chars-${at}-more`));
  const [status, , reason] = await refusalOf(withKey("wrong-key-of-24-chars-or-more"), fresh);
  expect([status, reason]).toEqual([429, "peer-limited"]);
  expect(await fresh.ask(withKey(weatherKey))).toMatchObject({ status: 200 });
});

const serveWith = async (text: string | Buffer): Promise<ServedHttp> => {
  const file = join(stage.folder, "edited.json");
  writeFileSync(file, text);
  return await stage.serve({ storage: { agentKeys: file } });
};

test.each([
  ["", "is not JSON"],
  ["[]", "no JSON object"],
  ["{}", "0 keys"],
  [JSON.stringify({ [weatherKey]: weather }), "no SHA-256"],
  [JSON.stringify({ [hash.toUpperCase()]: weather }), "no SHA-256"],
  [JSON.stringify({ [hash]: "a/b" }), "does not name a user"],
  [JSON.stringify({ [hash]: { user: weather } }), "levels deep"],
  [`{"${hash}":"a","${hash}":"b"}`, "twice"],
  [`{"${hash}":"${"x".repeat(300_000)}"}`, "bytes"],
  // A byte that is not UTF-8 makes no key name another user.
  [Buffer.from(`{"${hash}":"caf\u00e9"}`, "latin1"), "it is not UTF-8 text"],
] as const)("a file with %s is not used", async (text, why) => {
  const error = await serveWith(text).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(RangeError);
  expect(String(error)).toContain(why);
  expect(String(error)).not.toContain(stage.folder);
});

test("a file that is not there is told, and a byte order mark is no part of one", async () => {
  const none = stage.serve({ storage: { agentKeys: join(stage.folder, "none.json") } });
  await expect(none).rejects.toThrow("cannot be read");
  await using served = await serveWith(`\ufeff{"${hash}":"cafe"}`);
  expect(await served.ask(withKey(weatherKey))).toMatchObject({ status: 200 });
});

test("the file of keys in host/serve/storage/README.md is one, with a key's SHA-256 in place of the digits", async () => {
  const shown = blocksIn(textOf("host/serve/storage/README.md")).find(({ language }) => language === "json");
  const file = shown?.text.replace(/[0-9a-f]{4}…64 digits…/, hash) ?? "";
  const [userId = ""] = Object.values(JSON.parse(file) as Record<string, string>);
  await using served = await serveWith(file);
  stage.forget();
  expect(await served.ask(withKey(weatherKey))).toMatchObject({ status: 200 });
  expect(stage.records()).toMatchObject([{ kind: "call", userId, labels: { key: hash.slice(0, 12) } }]);
});
