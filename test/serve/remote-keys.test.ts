/** Keys fetched from an issuer: when they are fetched, how long they hold, and what the operator is told. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

import { errors, jwtVerify } from "jose";
import { afterEach, beforeEach, describe, expect, test } from "vitest";

import { remoteKeys } from "../../host/serve/http/token-keys.ts";
import { RateLimit } from "../../host/values/rate-limit.ts";
import { TokenIssuer } from "../stage/token-issuer.ts";
import { steppedClock } from "../support/stepped-clock.ts";

const times = { tell: () => {}, keysMs: 5_000, keysCooldownMs: 5_000, keysAgeMs: 600_000 };
const toldBy = (told: string[]) => (error: unknown) => void told.push((error as Error).message);

let issuing: TokenIssuer;
beforeEach(async () => {
  issuing = await TokenIssuer.start();
});
afterEach(async () => await issuing[Symbol.asyncDispose]());

test("while the issuer cannot be reached, known keys are valid until they are too old", async () => {
  const [young, old] = [remoteKeys(issuing.jwksUrl, times), remoteKeys(issuing.jwksUrl, { ...times, keysAgeMs: 0 })];
  const token = await issuing.token("alice");
  for (const keys of [young, old]) await jwtVerify(token, keys.find);
  issuing.answer = { status: 500, body: "{}" };
  await jwtVerify(token, young.find);
  await expect(jwtVerify(token, old.find)).rejects.toThrow("answered 500; expected 200");
  // The issuer is not asked again at once.
  const { asked } = issuing;
  await expect(jwtVerify(token, old.find)).rejects.toThrow("answered 500; expected 200");
  expect(issuing.asked).toBe(asked);
});

const tooMany = JSON.stringify({ keys: Array.from({ length: 129 }, () => ({})) });

test.for<readonly [what: string, status: number, body: string, reason: string]>([
  ["a missing page", 404, "no", "the server answered 404; expected 200"],
  ["a redirect", 302, "", "it redirects (302); expected 200"],
  ["a page that is not JSON", 200, "<html>", "its answer is not JSON"],
  ["JSON without keys", 200, "null", 'it does not have "keys" of at most 128 JSON Web Keys'],
  ["a set of too many keys", 200, tooMany, 'it does not have "keys" of at most 128 JSON Web Keys'],
  ["a set without an end", 200, `{"keys":[],"x":"${"x".repeat(262_144)}"}`, "it is larger than 262144 bytes"],
])("%s is told once, with the address and the reason", async ([, status, body, reason]) => {
  issuing.answer = { status, body };
  const told: string[] = [];
  const keys = remoteKeys(issuing.jwksUrl, { ...times, keysCooldownMs: 0, tell: toldBy(told) });
  expect([await keys.isReady(), await keys.isReady()]).toEqual([false, false]);
  expect(told).toEqual([`Cannot fetch the key set from ${issuing.jwksUrl}: ${reason}`]);
  issuing.answer = null;
  expect(await keys.isReady()).toBe(true);
});

test("a server that is not there, or does not answer, is told with the reason", async () => {
  await using gone = await TokenIssuer.start();
  const url = gone.jwksUrl;
  await gone[Symbol.asyncDispose]();
  await using silent = createServer(() => {}).listen(0, "127.0.0.1");
  await once(silent, "listening");
  const silentUrl = `http://127.0.0.1:${(silent.address() as AddressInfo).port}/keys`;
  const told: string[] = [];
  for (const each of [`${url}?token=made-up`, silentUrl]) {
    expect(await remoteKeys(each, { ...times, keysMs: 50, tell: toldBy(told) }).isReady()).toBe(false);
  }
  expect(told).toEqual([
    `Cannot fetch the key set from ${url}: the connection was refused (ECONNREFUSED)`,
    `Cannot fetch the key set from ${silentUrl}: no answer in 50 ms`,
  ]);
  silent.closeAllConnections();
});

const hourMs = 3_600_000;
/** The tokens are signed, and must not have ended, before the step. */
const endsInS = 4 * 3_600;

// The system's clock can be set while a server runs.
describe.for([
  { name: "has not stepped", stepMs: 0 },
  { name: "has stepped back", stepMs: -hourMs },
  { name: "has stepped forward", stepMs: hourMs },
])("when the clock $name", ({ stepMs }) => {
  test("a new key is fetched after the cooldown, and the removed one refused", async () => {
    const keys = remoteKeys(issuing.jwksUrl, { ...times, keysCooldownMs: 0 });
    expect(await keys.isReady()).toBe(true);
    const former = await issuing.token("alice", { endsInS });
    await jwtVerify(former, keys.find);
    expect(issuing.asked).toBe(1);
    await issuing.rotate();
    const later = await issuing.token("alice", { endsInS });
    using _clock = steppedClock(stepMs);
    await jwtVerify(later, keys.find);
    expect(issuing.asked).toBe(2);
    await expect(jwtVerify(former, keys.find)).rejects.toThrow(errors.JWKSNoMatchingKey);
  });

  test("keys are as old as before", async () => {
    const old = { ...times, keysAgeMs: 0, keysCooldownMs: 0 };
    const [young, aged] = [remoteKeys(issuing.jwksUrl, times), remoteKeys(issuing.jwksUrl, old)];
    const token = await issuing.token("alice", { endsInS });
    for (const keys of [young, aged]) await jwtVerify(token, keys.find);
    const { asked } = issuing;
    using _clock = steppedClock(stepMs);
    await jwtVerify(token, young.find);
    expect(issuing.asked).toBe(asked);
    await jwtVerify(token, aged.find);
    expect(issuing.asked).toBe(asked + 1);
  });

  test("a key that is unknown is not asked for again at once", async () => {
    const keys = remoteKeys(issuing.jwksUrl, { ...times, keysCooldownMs: 600_000 });
    await jwtVerify(await issuing.token("alice", { endsInS }), keys.find);
    await issuing.rotate();
    const unknown = await issuing.token("alice", { endsInS });
    using _clock = steppedClock(stepMs);
    await expect(jwtVerify(unknown, keys.find)).rejects.toThrow(errors.JWKSNoMatchingKey);
    expect(issuing.asked).toBe(1);
  });

  test("a minute of requests is a minute still", () => {
    const rate = new RateLimit(2, 10);
    for (const _ of [1, 2]) expect(rate.count("alice")).toBe(0);
    using _clock = steppedClock(stepMs);
    for (const waitS of [rate.count("alice"), rate.waitS("alice")]) {
      expect(waitS).toBeGreaterThan(50);
      expect(waitS).toBeLessThanOrEqual(60);
    }
  });
});
