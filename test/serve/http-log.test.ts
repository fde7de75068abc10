/** What the operator's log says about requests: enough, but bounded. */
import { expect, test } from "vitest";

import { legacyRequest, openSession } from "./http-requests.ts";
import { openHttpStage } from "./http-stage.ts";

test("logs each client mistake in one short line, up to a limit per minute", async () => {
  await using stage = await openHttpStage();
  const token = await stage.issuer.token("alice");
  const session = await openSession(stage, token);
  const result = { text: `\u001b[2J\n${"A".repeat(100_000)}` };
  for (let id = 0; id < 120; id++) {
    expect((await stage.ask(legacyRequest(token, { id, result }, { session }))).status).toBe(202);
  }
  expect(stage.log).toHaveLength(100);
  for (const { text } of stage.log) {
    expect(text.length).toBeLessThan(300);
    expect(text).toMatch(/^mcp: Received a response for an unknown message ID: [\x20-\x7e]+$/);
  }
});
