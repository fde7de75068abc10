import { errors, jwtVerify } from "jose";
import { expect, test } from "vitest";

import { remoteKeys } from "../../host/serve/http/token-keys.ts";
import { TokenIssuer } from "./token-issuer.ts";

const times = { keysMs: 5_000, keysCooldownMs: 5_000, keysAgeMs: 600_000 };

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
  await expect(jwtVerify(token, old.find)).rejects.toThrow("answered 500, expected 200");
  // The issuer is not asked again at once.
  const { asked } = issuing;
  await expect(jwtVerify(token, old.find)).rejects.toThrow("a moment ago");
  expect(issuing.asked).toBe(asked);
});
