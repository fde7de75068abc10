import { errors, jwtVerify } from "jose";
import { expect, test, vi } from "vitest";

import { RemoteKeys } from "../../host/serve/http/remote-keys.ts";
import { TokenIssuer } from "./token-issuer.ts";

test("a new key is fetched once the last fetch is a while ago, and the former one no longer counts", async () => {
  await using issuing = await TokenIssuer.start();
  const clock = vi.spyOn(Date, "now");
  const keys = new RemoteKeys(issuing.jwksUrl);
  expect(await keys.isReady()).toBe(true);
  const former = await issuing.token("alice");
  await jwtVerify(former, keys.find);
  await issuing.rotate();
  const token = await issuing.token("alice");
  await expect(jwtVerify(token, keys.find)).rejects.toThrow(errors.JWKSNoMatchingKey);
  const later = Date.now() + 6_000;
  clock.mockImplementation(() => later);
  await jwtVerify(token, keys.find);
  expect(issuing.asked).toBe(2);
  await expect(jwtVerify(former, keys.find)).rejects.toThrow(errors.JWKSNoMatchingKey);
  clock.mockRestore();
});

test("while the issuer cannot be reached, known keys count until they are too old", async () => {
  await using issuing = await TokenIssuer.start();
  const clock = vi.spyOn(Date, "now");
  const keys = new RemoteKeys(issuing.jwksUrl);
  await keys.isReady();
  const token = await issuing.token("alice");
  issuing.answer = { status: 500, body: "{}" };
  const now = Date.now();
  clock.mockImplementation(() => now + 599_000);
  await jwtVerify(token, keys.find, { currentDate: new Date(now) });
  clock.mockImplementation(() => now + 601_000);
  await expect(jwtVerify(token, keys.find, { currentDate: new Date(now) })).rejects.toThrow(
    "answered 500, expected 200",
  );
  clock.mockRestore();
});
