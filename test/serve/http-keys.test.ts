/** Keys that verify tokens: valid ones, invalid ones, and ones that change. */
import { generateKeyPairSync } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { exportJWK, exportPKCS8 } from "jose";
import { expect, test } from "vitest";

import { startHttpServer } from "../../host/serve/http/start-http-server.ts";
import { tokenAlgorithms } from "../../host/serve/serve-options.ts";
import type { TokenAlgorithm, TokenKeys } from "../../host/serve/serve-options.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { modernRequest } from "./http-requests.ts";
import { openHttpStage, serveDefaults, tokenOptions } from "./http-stage.ts";
import type { HttpStage } from "./http-stage.ts";
import { makeKey, TokenIssuer } from "./token-issuer.ts";

const list = async (stage: HttpStage, token: string): Promise<number> =>
  (await stage.ask(modernRequest(token, "tools/list"))).status;

function fileOf(folder: string, text: string | Buffer): string {
  const file = join(folder, "keys");
  writeFileSync(file, text);
  return file;
}

test.for(tokenAlgorithms)("verifies tokens of %s with a key set and with a public key, from a file", async (alg) => {
  using folder = temporaryFolder();
  await using issuing = await TokenIssuer.start(alg);
  const token = await issuing.token("alice");
  const texts: Record<Exclude<TokenKeys["kind"], "jwks-url">, string> = {
    "jwks-file": JSON.stringify(await issuing.keySet()),
    "public-key": await issuing.publicPem(),
  };
  for (const [kind, text] of Object.entries(texts)) {
    const keys = { kind, file: fileOf(folder.path, text) } as TokenKeys;
    await using stage = await openHttpStage({ token: { keys } });
    expect(await list(stage, token)).toBe(200);
    expect(await list(stage, await stage.issuer.token("alice"))).toBe(401);
    expect((await stage.ask({ method: "GET", path: "/readyz" })).status).toBe(200);
  }
});

interface Unusable {
  readonly name: string;
  readonly kind: "jwks-file" | "public-key";
  readonly text: (issuing: TokenIssuer) => Promise<string> | string | Buffer;
  readonly algorithms?: readonly TokenAlgorithm[];
  readonly message: string;
}

const privatePem = generateKeyPairSync("rsa", { modulusLength: 2_048 }).privateKey.export({
  type: "pkcs8",
  format: "pem",
});
const smallPem = generateKeyPairSync("rsa", { modulusLength: 1_024 }).publicKey.export({ type: "spki", format: "pem" });
const exchangePem = generateKeyPairSync("x25519").publicKey.export({ type: "spki", format: "pem" });

const unusable: Unusable[] = [
  {
    name: "a key set in another encoding",
    kind: "jwks-file",
    text: () => Buffer.from("\ufeff{}", "utf16le"),
    message: "its file is not UTF-8 text",
  },
  {
    name: "a private key",
    kind: "public-key",
    text: () => String(privatePem),
    message: "PRIVATE KEY, allowed: one PUBLIC KEY",
  },
  {
    name: "a private key behind a public one",
    kind: "public-key",
    text: async (of) => `${await of.publicPem()}\n${await exportPKCS8(of.key.privateKey)}`,
    message: "PUBLIC KEY, PRIVATE KEY, allowed",
  },
  { name: "a key that is not PEM", kind: "public-key", text: () => "secret", message: "its PEM holds nothing" },
  {
    name: "a broken PEM",
    kind: "public-key",
    text: () => "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n",
    message: "cannot be decoded",
  },
  {
    name: "a short RSA key",
    kind: "public-key",
    text: () => String(smallPem),
    message: "a key of type rsa fits none of",
  },
  {
    name: "a key that signs nothing",
    kind: "public-key",
    text: () => String(exchangePem),
    message: "a key of type x25519 fits none of",
  },
  {
    name: "a key of another algorithm",
    kind: "public-key",
    text: (of) => of.publicPem(),
    algorithms: ["RS256", "ES384"],
    message: "a key of type ec fits none of RS256, ES384",
  },
  { name: "a set that is not JSON", kind: "jwks-file", text: () => "{", message: "is not JSON" },
  { name: "a set without keys", kind: "jwks-file", text: () => '{"keys":[]}', message: 'no "keys" of 1 to 128' },
  {
    name: "a single key instead of a set",
    kind: "jwks-file",
    text: async (of) => JSON.stringify((await of.keySet()).keys[0]),
    message: 'no "keys" of 1 to 128',
  },
  {
    name: "a shared secret",
    kind: "jwks-file",
    text: () => '{"keys":[{"kty":"oct","k":"c2VjcmV0"}]}',
    message: "key 0 is not a public key",
  },
  {
    name: "a private key in a set",
    kind: "jwks-file",
    text: async (of) => JSON.stringify({ keys: [await exportJWK(of.key.privateKey)] }),
    message: "key 0 is private",
  },
  {
    name: "a set for another algorithm",
    kind: "jwks-file",
    text: async (of) => JSON.stringify(await of.keySet()),
    algorithms: ["EdDSA"],
    message: "none of its keys fits EdDSA",
  },
  {
    name: "a large file",
    kind: "jwks-file",
    text: () => " ".repeat(262_145),
    message: "262145 bytes, at most 262144 allowed",
  },
];

test.for(unusable)("does not start with $name", async ({ kind, text, algorithms = tokenAlgorithms, message }) => {
  using folder = temporaryFolder();
  await using stage = await openHttpStage();
  const keys = { kind, file: fileOf(folder.path, await text(stage.issuer)) };
  const access = { kind: "token", token: tokenOptions(stage.issuer, { keys, algorithms }) } as const;
  const starting = startHttpServer(stage.runtime, { ...serveDefaults, access });
  await expect(starting).rejects.toThrow(RangeError);
  await expect(starting).rejects.toThrow(message);
  await expect(starting).rejects.not.toThrow(folder.path);
});

test.for(["http://keys.example/keys", "ftp://127.0.0.1/keys", "http://127.0.0.1.example/keys"])(
  "does not start with keys from %s, where others could answer",
  async (url) => {
    await using stage = await openHttpStage();
    const access = { kind: "token", token: tokenOptions(stage.issuer, { keys: { kind: "jwks-url", url } }) } as const;
    const starting = startHttpServer(stage.runtime, { ...serveDefaults, access });
    await expect(starting).rejects.toThrow("neither https: nor on a loopback address");
  },
);

test("does not fetch keys again and again for a key id that the issuer does not name", async () => {
  await using stage = await openHttpStage();
  const asked = stage.issuer.asked;
  const signer = await makeKey("ES256", "key-9");
  for (let count = 0; count < 20; count++)
    expect(await list(stage, await stage.issuer.token("alice", { signer }))).toBe(401);
  expect(stage.issuer.asked).toBe(asked);
});

test("with unavailable keys, admits nobody, tells the operator, and is not ready", async () => {
  await using issuing = await TokenIssuer.start();
  issuing.answer = { status: 500, body: "{}" };
  const keys: TokenKeys = { kind: "jwks-url", url: issuing.jwksUrl };
  await using stage = await openHttpStage({ token: { keys } });
  expect((await stage.ask({ method: "GET", path: "/readyz" })).status).toBe(503);
  expect((await stage.ask({ method: "GET", path: "/healthz" })).status).toBe(200);
  const answer = await stage.ask(modernRequest(await issuing.token("alice"), "tools/list"));
  expect(answer.status).toBe(503);
  expect(answer.headers).not.toHaveProperty("www-authenticate");
  expect(answer.headers["retry-after"]).toBe("5");
  expect(stage.refusals).toMatchObject([{ reason: "keys-unavailable" }]);
  expect(stage.log.map(({ text }) => text).join("\n")).toContain("key set");
  // Requests do not make the server ask the issuer again.
  expect(issuing.asked).toBe(1);
});

test.for([
  { name: "an invalid set", body: '{"keys":7}' },
  { name: "a set of too many keys", body: JSON.stringify({ keys: Array.from({ length: 129 }, () => ({})) }) },
  { name: "a set without an end", body: `{"keys":[],"x":"${"x".repeat(262_144)}"}` },
  { name: "a shared secret", body: '{"keys":[{"kty":"oct","kid":"key-1","k":"c2VjcmV0"}]}' },
])("$name admits nobody", async ({ body }) => {
  await using issuing = await TokenIssuer.start();
  issuing.answer = { status: 200, body };
  const keys: TokenKeys = { kind: "jwks-url", url: issuing.jwksUrl };
  await using stage = await openHttpStage({ token: { keys } });
  expect([401, 503]).toContain(await list(stage, await issuing.token("alice")));
});
