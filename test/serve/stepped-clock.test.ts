/** Ages and windows of the server do not depend on the system's clock, which can be set while it runs. */
import { errors, jwtVerify } from "jose";
import { expect, test } from "vitest";

import { remoteKeys } from "../../host/serve/http/token-keys.ts";
import { RateLimit } from "../../host/values/rate-limit.ts";
import { steppedClock } from "../support/stepped-clock.ts";
import { TokenIssuer } from "./token-issuer.ts";

const hourMs = 3_600_000;
const steps = [
  { name: "back", stepMs: -hourMs },
  { name: "forward", stepMs: hourMs },
];
const times = { tell: () => {}, keysMs: 5_000, keysCooldownMs: 0, keysAgeMs: 600_000 };
/** The tokens are signed, and must not have ended, before the step. */
const endsInS = 4 * 3_600;

test.for(steps)(
  "after the clock has stepped $name, a new key is fetched and the removed one refused",
  async ({ stepMs }) => {
    await using issuing = await TokenIssuer.start();
    const keys = remoteKeys(issuing.jwksUrl, times);
    const former = await issuing.token("alice", { endsInS });
    await jwtVerify(former, keys.find);
    await issuing.rotate();
    const later = await issuing.token("alice", { endsInS });
    using _clock = steppedClock(stepMs);
    await jwtVerify(later, keys.find);
    await expect(jwtVerify(former, keys.find)).rejects.toThrow(errors.JWKSNoMatchingKey);
  },
);

test.for(steps)("after the clock has stepped $name, keys are as old as before", async ({ stepMs }) => {
  await using issuing = await TokenIssuer.start();
  const [young, old] = [remoteKeys(issuing.jwksUrl, times), remoteKeys(issuing.jwksUrl, { ...times, keysAgeMs: 0 })];
  const token = await issuing.token("alice", { endsInS });
  for (const keys of [young, old]) await jwtVerify(token, keys.find);
  const { asked } = issuing;
  using _clock = steppedClock(stepMs);
  await jwtVerify(token, young.find);
  expect(issuing.asked).toBe(asked);
  await jwtVerify(token, old.find);
  expect(issuing.asked).toBe(asked + 1);
});

test.for(steps)(
  "after the clock has stepped $name, a key that is unknown is not asked for again at once",
  async ({ stepMs }) => {
    await using issuing = await TokenIssuer.start();
    const keys = remoteKeys(issuing.jwksUrl, { ...times, keysCooldownMs: 600_000 });
    await jwtVerify(await issuing.token("alice", { endsInS }), keys.find);
    await issuing.rotate();
    const unknown = await issuing.token("alice", { endsInS });
    using _clock = steppedClock(stepMs);
    await expect(jwtVerify(unknown, keys.find)).rejects.toThrow(errors.JWKSNoMatchingKey);
    expect(issuing.asked).toBe(1);
  },
);

test.for(steps)("after the clock has stepped $name, a minute of requests is a minute still", ({ stepMs }) => {
  const rate = new RateLimit(2, 10);
  for (const _ of [1, 2]) expect(rate.count("alice")).toBe(0);
  using _clock = steppedClock(stepMs);
  for (const waitS of [rate.count("alice"), rate.waitS("alice")]) {
    expect(waitS).toBeGreaterThan(50);
    expect(waitS).toBeLessThanOrEqual(60);
  }
});
