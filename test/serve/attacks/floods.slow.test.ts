/** The server refuses clients that send too slowly. */
import { expect, test } from "vitest";

import { bytesOf, modernRequest, sendBytes } from "../../stage/http-requests.ts";
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
