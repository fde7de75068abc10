import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

import { errors, jwtVerify } from "jose";
import { expect, test } from "vitest";

import { remoteKeys } from "../../host/serve/http/token-keys.ts";
import { TokenIssuer } from "./token-issuer.ts";

const tell = (): void => {};
const times = { tell, keysMs: 5_000, keysCooldownMs: 5_000, keysAgeMs: 600_000 };

test("fetches a new key after the cooldown, and drops the former one", async () => {
  await using issuing = await TokenIssuer.start();
  const keys = remoteKeys(issuing.jwksUrl, { ...times, keysCooldownMs: 0 });
  expect(await keys.isReady()).toBe(true);
  const former = await issuing.token("alice");
  await jwtVerify(former, keys.find);
  expect(issuing.asked).toBe(1);
  await issuing.rotate();
  await jwtVerify(await issuing.token("alice"), keys.find);
  expect(issuing.asked).toBe(2);
  await expect(jwtVerify(former, keys.find)).rejects.toThrow(errors.JWKSNoMatchingKey);
});

test("while the issuer cannot be reached, known keys are valid until they are too old", async () => {
  await using issuing = await TokenIssuer.start();
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

test.for<readonly [what: string, status: number, body: string, reason: string]>([
  ["a missing page", 404, "no", "the server answered 404; expected 200"],
  ["a redirect", 302, "", "it redirects (302); expected 200"],
  ["a page that is not JSON", 200, "<html>", "its answer is not JSON"],
  ["JSON without keys", 200, "null", 'it does not have "keys" of at most 128 JSON Web Keys'],
])("%s is told once, with the address and the reason", async ([, status, body, reason]) => {
  await using issuing = await TokenIssuer.start();
  issuing.answer = { status, body };
  const told: string[] = [];
  const note = (error: unknown): void => void told.push((error as Error).message);
  const keys = remoteKeys(issuing.jwksUrl, { ...times, keysCooldownMs: 0, tell: note });
  expect([await keys.isReady(), await keys.isReady()]).toEqual([false, false]);
  expect(told).toEqual([`Cannot fetch the key set from ${issuing.jwksUrl}: ${reason}`]);
  issuing.answer = null;
  expect(await keys.isReady()).toBe(true);
});

test("a server that is not there is told with its address and the system's code", async () => {
  const issuing = await TokenIssuer.start();
  const url = issuing.jwksUrl;
  await issuing[Symbol.asyncDispose]();
  const told: string[] = [];
  const note = (error: unknown): void => void told.push((error as Error).message);
  expect(await remoteKeys(`${url}?token=made-up`, { ...times, tell: note }).isReady()).toBe(false);
  expect(told).toEqual([`Cannot fetch the key set from ${url}: the connection was refused (ECONNREFUSED)`]);
});

test("a server that does not answer is told with the time that it had", async () => {
  const silent = createServer(() => {}).listen(0, "127.0.0.1");
  await once(silent, "listening");
  const url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}/keys`;
  const told: string[] = [];
  const note = (error: unknown): void => void told.push((error as Error).message);
  expect(await remoteKeys(url, { ...times, keysMs: 50, tell: note }).isReady()).toBe(false);
  expect(told).toEqual([`Cannot fetch the key set from ${url}: no answer in 50 ms`]);
  silent.closeAllConnections();
  silent.close();
});
