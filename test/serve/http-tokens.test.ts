/** Which tokens are accepted. The operator learns why one is refused; the client does not. */
import { createHmac } from "node:crypto";

import { expect, test } from "vitest";

import type { RefusalReason } from "../../host/serve/http/refusals.ts";
import { modernRequest } from "./http-requests.ts";
import { openHttpStage } from "./http-stage.ts";
import { makeKey } from "./token-issuer.ts";
import type { TokenIssuer } from "./token-issuer.ts";

const now = (): number => Math.floor(Date.now() / 1000);
const encoded = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url");

/** The issuer's token with some parts replaced. */
async function bent(issuing: TokenIssuer, change: (parts: string[]) => void): Promise<string> {
  const parts = (await issuing.token("alice")).split(".");
  change(parts);
  return parts.join(".");
}

interface Row {
  readonly name: string;
  readonly reason: RefusalReason;
  readonly token: (issuing: TokenIssuer) => Promise<string>;
}

const rows: Row[] = [
  { name: "no token at all", reason: "token-malformed", token: async () => "secret" },
  {
    name: "two tokens",
    reason: "token-malformed",
    token: async (of) => `${await of.token("alice")} ${await of.token("bob")}`,
  },
  {
    name: "a long token",
    reason: "token-malformed",
    token: (of) => of.token("alice", { claims: { long: "x".repeat(8_192) } }),
  },
  {
    name: "a header that is not JSON",
    reason: "token-malformed",
    token: (of) => bent(of, (parts) => (parts[0] = "abcd")),
  },
  { name: "a type that is a number", reason: "token-type", token: (of) => of.token("alice", { header: { typ: 7 } }) },
  {
    name: "a token for signing out",
    reason: "token-type",
    token: (of) => of.token("alice", { header: { typ: "logout+jwt" } }),
  },
  {
    name: "an extension that must be understood",
    reason: "token-malformed",
    token: (of) => bent(of, (parts) => (parts[0] = encoded({ alg: "ES256", kid: "key-1", crit: ["exp"], exp: 1 }))),
  },
  {
    name: "no algorithm",
    reason: "token-algorithm",
    token: (of) => bent(of, (parts) => parts.splice(0, 3, encoded({ alg: "none" }), parts[1] ?? "", "")),
  },
  {
    name: "the public key as a shared secret",
    reason: "token-algorithm",
    token: async (of) => {
      const signed = `${encoded({ alg: "HS256", kid: "key-1" })}.${(await of.token("alice")).split(".")[1]}`;
      return `${signed}.${createHmac("sha256", await of.publicPem())
        .update(signed)
        .digest("base64url")}`;
    },
  },
  {
    name: "an algorithm that is not allowed",
    reason: "token-algorithm",
    token: async (of) => of.token("alice", { signer: await makeKey("ES384", "key-1") }),
  },
  {
    name: "an algorithm of another key type",
    reason: "token-key",
    token: async (of) => of.token("alice", { signer: await makeKey("RS256", "key-1") }),
  },
  {
    name: "an unknown key",
    reason: "token-key",
    token: async (of) => of.token("alice", { signer: await makeKey("ES256", "key-9") }),
  },
  {
    name: "another's key by the same name",
    reason: "token-signature",
    token: async (of) => of.token("alice", { signer: await makeKey("ES256", "key-1") }),
  },
  {
    name: "a key that it brings along",
    reason: "token-signature",
    token: async (of) => {
      const signer = await makeKey("ES256", "key-1");
      const { exportJWK } = await import("jose");
      const header = { jwk: await exportJWK(signer.publicKey), jku: of.jwksUrl, x5u: of.jwksUrl };
      return of.token("alice", { signer, header });
    },
  },
  { name: "no signature", reason: "token-signature", token: (of) => bent(of, (parts) => (parts[2] = "")) },
  {
    name: "another user written in",
    reason: "token-signature",
    token: (of) => bent(of, (parts) => (parts[1] = encoded({ sub: "bob" }))),
  },
  {
    name: "another issuer",
    reason: "token-issuer",
    token: (of) => of.token("alice", { claims: { iss: "https://evil.example" } }),
  },
  {
    name: "the issuer and a slash",
    reason: "token-issuer",
    token: (of) => of.token("alice", { claims: { iss: "https://issuer.example/" } }),
  },
  {
    name: "another audience",
    reason: "token-audience",
    token: (of) => of.token("alice", { claims: { aud: ["https://other.example"] } }),
  },
  { name: "no audience", reason: "token-audience", token: (of) => of.token("alice", { claims: { aud: undefined } }) },
  { name: "no expiry", reason: "token-claim", token: (of) => of.token("alice", { claims: { exp: undefined } }) },
  {
    name: "an expiry that is a text",
    reason: "token-claim",
    token: (of) => of.token("alice", { claims: { exp: "tomorrow" } }),
  },
  { name: "an expiry a second ago", reason: "token-expired", token: (of) => of.token("alice", { endsInS: -1 }) },
  {
    name: "a start in a minute",
    reason: "token-not-yet-valid",
    token: (of) => of.token("alice", { claims: { nbf: now() + 60 } }),
  },
  {
    name: "a start that is a text",
    reason: "token-claim",
    token: (of) => of.token("alice", { claims: { nbf: "now" } }),
  },
];

test.for(rows)("refuses a token with $name as $reason", async ({ reason, token }) => {
  await using stage = await openHttpStage({ token: { algorithms: ["ES256", "RS256"] } });
  const answer = await stage.rpc(await token(stage.issuer), "tools/list");
  expect(answer.status).toBe(401);
  expect(answer.headers["www-authenticate"]).toBe('Bearer error="invalid_token"');
  expect(JSON.parse(answer.body)).toEqual({
    jsonrpc: "2.0",
    id: null,
    error: { code: -32_000, message: "invalid_token" },
  });
  expect(stage.refusals).toEqual([{ surface: "http", reason, userId: undefined, peer: "127.0.0.1" }]);
  expect((await stage.rpc(await stage.issuer.token("alice"), "tools/list")).status).toBe(200);
});

test.for([
  { name: "no header", headers: {} },
  { name: "another scheme", headers: { authorization: "Basic YWxpY2U6c2VjcmV0" } },
])("with $name, tells the client where to get a token", async ({ headers }) => {
  await using stage = await openHttpStage({ publicUrl: "https://memory.example/mcp" });
  const answer = await stage.ask({ headers, body: "{}" });
  const metadataUrl = "https://memory.example/.well-known/oauth-protected-resource/mcp";
  expect(answer.status).toBe(401);
  expect(answer.headers["www-authenticate"]).toBe(`Bearer resource_metadata="${metadataUrl}"`);
  expect(stage.refusals).toMatchObject([{ reason: "token-missing" }]);
  const metadata = await stage.ask({ method: "GET", path: new URL(metadataUrl).pathname });
  expect(metadata.status).toBe(200);
  expect(JSON.parse(metadata.body)).toEqual({
    resource: "https://memory.example/mcp",
    authorization_servers: ["https://issuer.example"],
    bearer_methods_supported: ["header"],
    resource_name: "memcell",
  });
});

test.for([
  { name: "nothing", sub: undefined },
  { name: "a number", sub: 7 },
  { name: "a list", sub: ["alice"] },
  { name: "an empty text", sub: "" },
  { name: "a parent path", sub: "../bob" },
  { name: "dots", sub: ".." },
  { name: "a space at its end", sub: "alice " },
  { name: "a control character", sub: "alice\n" },
  { name: "a text that is too long", sub: "x".repeat(129) },
])("refuses a valid token whose user is $name", async ({ sub }) => {
  await using stage = await openHttpStage();
  const answer = await stage.rpc(await stage.issuer.token("", { claims: { sub } }), "tools/list");
  expect(answer.status).toBe(403);
  expect(stage.refusals).toEqual([{ surface: "http", reason: "token-user", userId: undefined, peer: "127.0.0.1" }]);
});

test("takes the user from the configured claim only, and not from a built-in property of objects", async () => {
  await using stage = await openHttpStage({ token: { userClaim: "email" } });
  const alice = await stage.client(await stage.issuer.token("bob", { claims: { email: "alice@example.org" } }));
  const entry = { action: "upsert", name: "editor", type: "user", description: "Uses Helix", body: "Helix" };
  await alice.callTool({ name: "UpdateUserMemory", arguments: entry });
  expect(await stage.runtime.memoryIndex({ userId: "alice@example.org" })).toContain("Uses Helix");
  await using other = await openHttpStage({ token: { userClaim: "constructor" } });
  expect((await other.rpc(await other.issuer.token("alice"), "tools/list")).status).toBe(403);
});

test("the clock tolerance applies to the start and the end of a token's validity", async () => {
  await using stage = await openHttpStage({ token: { clockToleranceS: 30 } });
  const { issuer: of } = stage;
  const statusOf = async (token: string): Promise<number> => (await stage.rpc(token, "tools/list")).status;
  expect(await statusOf(await of.token("alice", { endsInS: -10 }))).toBe(200);
  expect(await statusOf(await of.token("alice", { claims: { nbf: now() + 10 } }))).toBe(200);
  expect(await statusOf(await of.token("alice", { endsInS: -60 }))).toBe(401);
});

test("accepts a token if one of its audiences is the server's", async () => {
  await using stage = await openHttpStage();
  const aud = ["https://other.example", "https://memory.example"];
  expect((await stage.rpc(await stage.issuer.token("alice", { claims: { aud } }), "tools/list")).status).toBe(200);
});

test("limits an address with too many bad tokens, but not tokens from it that were accepted before", async () => {
  await using stage = await openHttpStage();
  const good = await stage.issuer.token("alice");
  expect((await stage.rpc(good, "tools/list")).status).toBe(200);
  const bad = await stage.issuer.token("alice", { endsInS: -60 });
  for (let count = 0; count < 300; count++) expect((await stage.ask(modernRequest(bad, "ping"))).status).toBe(401);
  const answer = await stage.rpc(bad, "tools/list");
  expect(answer.status).toBe(429);
  expect(Number(answer.headers["retry-after"])).toBeGreaterThan(0);
  expect((await stage.rpc(await stage.issuer.token("bob"), "tools/list")).status).toBe(429);
  expect((await stage.rpc(good, "tools/list")).status).toBe(200);
  expect(stage.refusals.slice(300)).toMatchObject([{ reason: "peer-limited" }, { reason: "peer-limited" }]);
});

test("an expired token that was accepted before counts as a bad one", async () => {
  await using stage = await openHttpStage();
  const token = await stage.issuer.token("alice", { endsInS: 1 });
  const bad = await stage.issuer.token("alice", { endsInS: -60 });
  let { status } = await stage.rpc(token, "tools/list");
  expect(status).toBe(200);
  while (status === 200) ({ status } = await stage.rpc(token, "tools/list"));
  expect(status).toBe(401);
  for (let count = 0; count < 299; count++) expect((await stage.rpc(bad, "tools/list")).status).toBe(401);
  expect((await stage.rpc(token, "tools/list")).status).toBe(429);
});
