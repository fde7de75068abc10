/** What the operator's settings make of tokens. `attacks/` has those that are refused. */
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";

import { openHttpStage } from "../stage/http.ts";
import type { HttpStage } from "../stage/http.ts";

let stage: HttpStage;
beforeAll(async () => {
  stage = await openHttpStage();
});
beforeEach(() => stage.forget());
afterAll(async () => await stage[Symbol.asyncDispose]());

test.for([{ headers: {} }, { headers: { authorization: "Basic YWxpY2U6c2VjcmV0" } }])(
  "with the headers $headers, tells the client where to get a token",
  async ({ headers }) => {
    await using served = await stage.serve({ publicUrl: "https://memory.example/mcp" });
    const answer = await served.ask({ headers, body: "{}" });
    const metadataUrl = "https://memory.example/.well-known/oauth-protected-resource/mcp";
    expect(answer.status).toBe(401);
    expect(answer.headers["www-authenticate"]).toBe(`Bearer resource_metadata="${metadataUrl}"`);
    expect(stage.refusals).toMatchObject([{ reason: "token-missing" }]);
    const metadata = await served.ask({ method: "GET", path: new URL(metadataUrl).pathname });
    expect(metadata.status).toBe(200);
    expect(JSON.parse(metadata.body)).toEqual({
      resource: "https://memory.example/mcp",
      authorization_servers: ["https://issuer.example"],
      bearer_methods_supported: ["header"],
      resource_name: "memcell",
    });
  },
);

test("takes the user from the configured claim only, and not from a built-in property of objects", async () => {
  await using served = await stage.serve({ token: { userClaim: "email" } });
  const token = await stage.issuer.token("bob", { claims: { email: "alice@example.org" } });
  const read = { name: "ReadUserMemory", arguments: { name: "editor" } };
  expect((await served.rpc(token, "tools/call", read)).status).toBe(200);
  expect(stage.records()).toMatchObject([{ kind: "call", userId: "alice@example.org" }]);
  await using other = await stage.serve({ token: { userClaim: "constructor" } });
  expect((await other.rpc(await stage.issuer.token("alice"), "tools/list")).status).toBe(403);
});

test("the clock tolerance applies to the start and the end of a token's validity", async () => {
  await using served = await stage.serve({ token: { clockToleranceS: 30 } });
  const of = stage.issuer;
  const nowS = Math.floor(Date.now() / 1000);
  const statusOf = async (token: string): Promise<number> => (await served.rpc(token, "tools/list")).status;
  expect(await statusOf(await of.token("alice", { endsInS: -10 }))).toBe(200);
  expect(await statusOf(await of.token("alice", { claims: { nbf: nowS + 10 } }))).toBe(200);
  expect(await statusOf(await of.token("alice", { endsInS: -60 }))).toBe(401);
  expect((await stage.rpc(await of.token("alice", { endsInS: -1 }), "tools/list")).status).toBe(401);
});
