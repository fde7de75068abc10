/** What the operator's settings make of tokens: keys that verify them, users, times. `attacks/` has refused tokens. */
import { generateKeyPairSync } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { exportJWK, exportPKCS8 } from "jose";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";

import { modernRequest } from "../stage/http-requests.ts";
import { openHttpStage, tokenAlgorithms } from "../stage/http.ts";
import type { HttpStage, ServedHttp, TokenOptions } from "../stage/http.ts";
import { makeKey, TokenIssuer } from "../stage/token-issuer.ts";

let stage: HttpStage;
beforeAll(async () => {
  stage = await openHttpStage();
});
beforeEach(() => stage.forget());
afterAll(async () => await stage[Symbol.asyncDispose]());

const list = async (served: ServedHttp, token: string): Promise<number> =>
  (await served.ask(modernRequest(token, "tools/list"))).status;

function fileOf(text: string | Buffer): string {
  const file = join(stage.folder, "keys");
  writeFileSync(file, text);
  return file;
}

test.for(tokenAlgorithms)("verifies tokens of %s with a key set and with a public key, from a file", async (alg) => {
  await using issuing = await TokenIssuer.start(alg);
  const token = await issuing.token("alice");
  for (const [kind, text] of [
    ["jwks-file", JSON.stringify(await issuing.keySet())],
    ["public-key", await issuing.publicPem()],
  ] as const) {
    const keys = { kind, file: fileOf(text) };
    await using served = await stage.serve({ token: { keys } });
    expect(await list(served, token)).toBe(200);
    expect(await list(served, await stage.issuer.token("alice"))).toBe(401);
    expect((await served.ask({ method: "GET", path: "/readyz" })).status).toBe(200);
    // The operator can allow fewer algorithms than there are keys for.
    const algorithms = tokenAlgorithms.filter((each) => each !== alg);
    const other = stage.serve({ token: { algorithms, keys } });
    expect(await other.then(async (fewer) => await list(fewer, token)).catch(() => 401)).toBe(401);
  }
});

const pem = { type: "spki", format: "pem" } as const;
const shortPem = generateKeyPairSync("rsa", { modulusLength: 1_024 }).publicKey.export(pem);
const exchangePem = generateKeyPairSync("x25519").publicKey.export(pem);
const noPem = "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n";

type MakeText = (of: TokenIssuer) => Promise<string> | string | Buffer;
type Unusable = readonly [what: string, text: MakeText, message: string, algorithms?: TokenOptions["algorithms"]];

const unusablePems: readonly Unusable[] = [
  [
    "a private key behind a public one",
    async (of) => `${await of.publicPem()}\n${await exportPKCS8(of.key.privateKey)}`,
    "PUBLIC KEY, PRIVATE KEY, allowed",
  ],
  ["a key that is not PEM", () => "secret", "its PEM holds nothing"],
  ["a broken PEM", () => noPem, "cannot be decoded"],
  ["a short RSA key", () => String(shortPem), "a key of type rsa fits none of"],
  ["a key that signs nothing", () => String(exchangePem), "a key of type x25519 fits none of"],
  ["a key of another algorithm", async (of) => await of.publicPem(), "a key of type ec fits none of", ["RS256"]],
];

const unusableSets: readonly Unusable[] = [
  ["a key set in another encoding", () => Buffer.from("\ufeff{}", "utf16le"), "is not UTF-8 text"],
  ["a set that is not JSON", () => "{", "is not JSON"],
  ["a single key", async (of) => JSON.stringify((await of.keySet()).keys[0]), 'no "keys" of 1 to 128'],
  ["a shared secret", () => '{"keys":[{"kty":"oct","k":"c2VjcmV0"}]}', "key 0 is not a public key"],
  [
    "a private key in a set",
    async (of) => JSON.stringify({ keys: [await exportJWK(of.key.privateKey)] }),
    "key 0 is private",
  ],
  ["a set for another algorithm", async (of) => JSON.stringify(await of.keySet()), "none of its keys", ["EdDSA"]],
  ["a large file", () => " ".repeat(262_145), "262145 bytes, at most 262144 allowed"],
];

test.for([
  ...unusablePems.map((row) => ({ kind: "public-key" as const, what: row[0], row })),
  ...unusableSets.map((row) => ({ kind: "jwks-file" as const, what: row[0], row })),
])("does not start with $what", async ({ kind, row: [, text, message, algorithms = tokenAlgorithms] }) => {
  const keys = { kind, file: fileOf(await text(stage.issuer)) };
  const starting = stage.serve({ token: { keys, algorithms } });
  await expect(starting).rejects.toThrow(RangeError);
  await expect(starting).rejects.toThrow(message);
  await expect(starting).rejects.not.toThrow(stage.folder);
});

test.for(["http://keys.example/keys", "ftp://127.0.0.1/keys", "http://127.0.0.1.example/keys"])(
  "does not start with keys from %s, where others could answer",
  async (url) => {
    const starting = stage.serve({ token: { keys: { kind: "jwks-url", url } } });
    await expect(starting).rejects.toThrow("neither https: nor on a loopback address");
  },
);

test("does not fetch keys again and again for a key id that the issuer does not name", async () => {
  await using served = await stage.serve();
  const { asked } = stage.issuer;
  const unnamed = await stage.issuer.token("alice", { signer: await makeKey("ES256", "key-9") });
  for (let count = 0; count < 20; count++) expect(await list(served, unnamed)).toBe(401);
  expect(stage.issuer.asked).toBe(asked);
});

test("with unavailable keys, admits nobody, tells the operator, and is not ready", async () => {
  await using issuing = await TokenIssuer.start();
  issuing.answer = { status: 500, body: "{}" };
  await using served = await stage.serve({ token: { keys: { kind: "jwks-url", url: issuing.jwksUrl } } });
  expect((await served.ask({ method: "GET", path: "/readyz" })).status).toBe(503);
  expect((await served.ask({ method: "GET", path: "/healthz" })).status).toBe(200);
  const answer = await served.ask(modernRequest(await issuing.token("alice"), "tools/list"));
  expect(answer.status).toBe(503);
  expect(answer.headers).not.toHaveProperty("www-authenticate");
  expect(answer.headers["retry-after"]).toBe("5");
  expect(stage.refusals).toMatchObject([{ reason: "keys-unavailable" }]);
  expect(stage.log.map(({ text }) => text).join("\n")).toContain("key set");
  // Requests do not make the server ask the issuer again.
  expect(issuing.asked).toBe(1);
});

test("takes the user from the configured claim only, and not from a built-in property of objects", async () => {
  await using served = await stage.serve({ token: { userClaim: "email" } });
  const token = await stage.issuer.token("bob", { claims: { email: "alice@example.org" } });
  const read = { name: "ReadUserMemory", arguments: { name: "editor" } };
  expect((await served.rpc(token, "tools/call", read)).status).toBe(200);
  expect(stage.records()).toMatchObject([{ kind: "call", userId: "alice@example.org" }]);
  await using other = await stage.serve({ token: { userClaim: "constructor" } });
  expect((await other.rpc(await stage.issuer.token("alice"), "tools/list")).status).toBe(403);
});

test("a token without an audience is taken only from a client that the operator names, whose log says how", async () => {
  await using served = await stage.serve({ token: { clientsWithoutAudience: ["pool-client"] } });
  const cognito = { aud: undefined, token_use: "access" };
  const of = (claims: object): Promise<string> => stage.issuer.token("alice", { claims: { ...claims } });
  const ours = await of({ ...cognito, client_id: "pool-client" });
  expect(await list(served, ours)).toBe(200);
  expect(await list(stage, ours)).toBe(401);
  const text = stage.log.find(({ tool }) => tool === "serve")?.text;
  expect(text).toContain('of the client "pool-client" has no aud');
  expect(text).toContain("serve.auth.clientsWithoutAudience (--clients-without-audience)");
  const others = [
    { ...cognito, client_id: "other-client" },
    { ...cognito, client_id: ["pool-client"] },
    { ...cognito, azp: "pool-client" },
    cognito,
    { aud: null, client_id: "pool-client" },
    { aud: "https://other.example", client_id: "pool-client" },
  ];
  stage.forget();
  for (const claims of others) expect(await list(served, await of(claims))).toBe(401);
  const missing = Array.from({ length: 4 }, () => "token-audience-missing");
  expect(stage.refusals.map(({ reason }) => reason)).toEqual([...missing, "token-audience", "token-audience"]);
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
