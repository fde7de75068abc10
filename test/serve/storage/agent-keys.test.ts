/** The keys that agents send in X-API-Key. */
import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { openAgentKeys } from "../../../host/serve/http/agent-keys.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import type { Asked } from "../http-requests.ts";
import { openStorageStage, planner, refused, refusedOf, weather, writeAgentKeys } from "./stage.ts";
import type { StorageStage } from "./stage.ts";

const [weatherKey, plannerKey] = ["weather-key-of-24-chars-or-more", "planner-key-of-24-chars-or-more"];
const folder = temporaryFolder();
const keyFile = writeAgentKeys(folder.path, { [weather]: weatherKey, [planner]: plannerKey });

let stage: StorageStage;
beforeAll(async () => {
  stage = await openStorageStage({ agentKeys: keyFile }, { bodyBytesMax: 150_000 });
});
afterAll(async () => {
  await stage[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

const memory = "/api/storage/memory";
const json = { "content-type": "application/json" };

const withKey = (key: string | readonly string[], asked: Asked = {}): Asked => ({
  method: "GET",
  path: `${memory}?action=stores`,
  ...asked,
  headers: { "x-api-key": key, ...asked.headers },
});

describe("keys of agents", () => {
  test("each identifies its agent, and is in the audit log by the beginning of its hash", async () => {
    const put = { method: "PUT", path: `${memory}/k`, body: '{"value":1}', headers: json };
    expect(await stage.ask(withKey(weatherKey, put))).toMatchObject({ status: 200 });
    expect(await stage.ask(withKey(weatherKey, { path: `${memory}/k` }))).toMatchObject({ status: 200 });
    expect(await stage.ask(withKey(plannerKey, { path: `${memory}/k` }))).toMatchObject({ status: 404 });
    const labels = { via: "http-storage", key: createHash("sha256").update(weatherKey).digest("hex").slice(0, 12) };
    expect(stage.records().find(({ kind, userId }) => kind === "call" && userId === weather)).toMatchObject({ labels });
    expect(JSON.stringify(stage.records())).not.toContain(weatherKey);
  });

  test.each([
    "",
    " ",
    weatherKey.slice(0, -1),
    `${weatherKey}x`,
    weatherKey.toUpperCase(),
    createHash("sha256").update(weatherKey).digest("hex"),
    `Bearer ${weatherKey}`,
    `${weatherKey}, ${plannerKey}`,
    "x".repeat(600),
  ])("%o is none", async (key) => {
    expect(await refusedOf(stage, withKey(key))).toEqual(refused(401, "invalid_key", "key-unknown"));
  });

  test("go with no token, are sent once, and open nothing else", async () => {
    const authorization = `Bearer ${await stage.issuer.token(weather)}`;
    const several = "The request has both an Authorization and an X-API-Key header";
    for (const sent of [authorization, "Bearer x", "Basic eDp5", ""]) {
      expect(await refusedOf(stage, withKey(weatherKey, { headers: { authorization: sent } }))).toEqual(
        refused(400, several, "credentials-several"),
      );
    }
    expect(await refusedOf(stage, withKey([weatherKey, weatherKey]))).toMatchObject({
      status: 400,
      refusals: [["header-repeated", null]],
    });
    expect(await refusedOf(stage, withKey(weatherKey, { path: "/mcp", method: "GET" }))).toMatchObject({
      status: 401,
      refusals: [["token-missing", null]],
    });
    expect(await refusedOf(stage, { method: "GET", path: `${memory}?apiKey=${weatherKey}` })).toMatchObject({
      status: 401,
    });
  });

  test("are refused where the operator has named none", async () => {
    await using none = await openStorageStage();
    const unexpected = refused(400, "This server takes no X-API-Key header", "key-unexpected");
    expect(await refusedOf(none, withKey(weatherKey))).toEqual(unexpected);
    await using one = await openStorageStage({}, { access: { kind: "one-user", userId: weather } });
    expect(await refusedOf(one, withKey(weatherKey))).toEqual(unexpected);
  });

  test("too many wrong ones keep an address out, but not its right one", async () => {
    await using fresh = await openStorageStage({ agentKeys: keyFile });
    expect(await fresh.ask(withKey(weatherKey))).toMatchObject({ status: 200 });
    for (let at = 0; at < 300; at++) await fresh.ask(withKey(`wrong-key-of-24-chars-${at}-more`));
    expect(await refusedOf(fresh, withKey("wrong-key-of-24-chars-or-more"))).toMatchObject({
      status: 429,
      refusals: [["peer-limited", null]],
    });
    expect(await fresh.ask(withKey(weatherKey))).toMatchObject({ status: 200 });
  });

  const hash = createHash("sha256").update(weatherKey).digest("hex");
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
  ])("a file with %s is not used", async (text, why) => {
    const file = join(folder.path, "wrong.json");
    writeFileSync(file, text);
    await expect(openAgentKeys(file)).rejects.toThrow(RangeError);
    const error = await openAgentKeys(file).catch((thrown: unknown) => thrown);
    expect(String(error)).toContain(why);
    expect(String(error)).not.toContain(folder.path);
  });

  test("a byte order mark is no part of a file, and a byte that is not UTF-8 makes no key name another user", async () => {
    const file = join(folder.path, "edited.json");
    const text = `{"${"0".repeat(64)}":"cafe"}`;
    writeFileSync(file, `\ufeff${text}`);
    await expect(openAgentKeys(file)).resolves.toBeDefined();
    writeFileSync(file, Buffer.from(text.replace("cafe", "caf\u00e9"), "latin1"));
    await expect(openAgentKeys(file)).rejects.toThrow("it is not UTF-8 text");
  });

  test("and a file that is not there, and one for a server of one user", async () => {
    await expect(openAgentKeys(join(folder.path, "none.json"))).rejects.toThrow("cannot be read");
    const one = openStorageStage({ agentKeys: keyFile }, { access: { kind: "one-user", userId: weather } });
    await expect(one).rejects.toThrow("Cannot use agents' keys for a server of one user");
  });
});
