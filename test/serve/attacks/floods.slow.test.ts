/** The server refuses clients that send too slowly, and keeps to its limit of sessions however many they are. */
import { expect, test } from "vitest";

import { bytesOf, handshake, legacyRequest, modernRequest, sendBytes } from "../../stage/http-requests.ts";
import { openHttpStage } from "../../stage/http.ts";

test("the server cuts heads and bodies that never end, and serves bob meanwhile", { timeout: 120_000 }, async () => {
  await using stage = await openHttpStage();
  const [alice, bob] = [await stage.issuer.token("alice"), await stage.issuer.token("bob")];
  const whole = bytesOf(modernRequest(alice, "tools/list"));
  const slow = [sendBytes(stage.port, whole.slice(0, 60)), sendBytes(stage.port, whole.slice(0, -1))];
  for (let at = 0; at < 20; at++) expect(await stage.rpc(bob, "tools/list")).toMatchObject({ status: 200 });
  for (const answer of await Promise.all(slow)) expect(answer).toMatch(/^HTTP\/1\.1 408 /);
  expect(stage.refusals.filter(({ reason }) => reason === "http-malformed")).toHaveLength(2);
});

test("the session that all users have not used for the longest makes room for the 10,001st", async () => {
  await using stage = await openHttpStage({ sessionsPerUserMax: 20_000 });
  const [alice, bob] = [await stage.issuer.token("alice"), await stage.issuer.token("bob")];
  const newSession = async (token: string): Promise<string> =>
    String((await stage.ask(legacyRequest(token, handshake))).headers["mcp-session-id"]);
  const isOpen = async (session: string): Promise<boolean> =>
    (await stage.ask(legacyRequest(alice, { id: 1, method: "ping" }, { session }))).status === 200;
  const [first, second] = [await newSession(alice), await newSession(alice)];
  for (let at = 0; at < 9_998; at++) await newSession(bob);
  expect(await isOpen(first)).toBe(true);
  await newSession(bob);
  expect([await isOpen(first), await isOpen(second)]).toEqual([true, false]);
});
