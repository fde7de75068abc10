/** The settings of `memcell serve` must be consistent, so that nobody is served whom the operator did not intend. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { afterAll, expect, test } from "vitest";

import { serveSettings } from "../../host/config/serve-settings.ts";
import type { ServeSettings } from "../../host/config/serve-settings.ts";
import { UsageError } from "../../host/config/usage-error.ts";
import { allowedHostNames } from "../../host/serve/http/check-request.ts";
import { tokenAlgorithms } from "../../host/serve/serve-options.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { settingsOf } from "./settings-of.ts";

const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());

const served = async (args: readonly string[], environment: NodeJS.ProcessEnv = {}): Promise<ServeSettings> =>
  serveSettings(await settingsOf(args, environment));

const token = ["--issuer", "https://id.example", "--audience", "memory", "--jwks", "https://id.example/keys"];
const defaults = {
  host: "127.0.0.1",
  port: 7391,
  path: "/mcp",
  allowedHosts: [],
  allowedOrigins: [],
  storage: null,
  originClass: "unstated",
  publicUrl: null,
  bodyBytesMax: 1_048_576,
  requestsPerMinute: 600,
  sessionsPerUserMax: 32,
  sessionIdleMs: 1_800_000,
  closeGraceMs: 10_000,
};

test("serves one user over standard input and output", async () => {
  expect(await served(["--user", "alice"])).toEqual({ kind: "stdio", userId: "alice", originClass: "unstated" });
  const variables = { MEMCELL_SERVE_USER: "bob", MEMCELL_SERVE_ORIGIN_CLASS: "direct_user" };
  expect(await served([], variables)).toEqual({ kind: "stdio", userId: "bob", originClass: "direct_user" });
  // HTTP settings in a file do not prevent standard input and output.
  expect(await served(["--user", "a"], { MEMCELL_SERVE_PORT: "1" })).toMatchObject({ kind: "stdio" });
});

test("serves one user over HTTP, with the documented defaults", async () => {
  const options = { ...defaults, access: { kind: "one-user", userId: "alice" } };
  expect(await served(["--http", "--user", "alice"])).toEqual({ kind: "http", options, metrics: null });
});

test("serves users with tokens over HTTP, from an environment and a file", async () => {
  const file = join(folder.path, "serve.json");
  const auth = {
    issuer: "https://id.example",
    audience: "memory",
    publicKey: "key.pem",
    algorithms: ["ES256", "ES256"],
  };
  writeFileSync(file, JSON.stringify({ serve: { http: true, host: "0.0.0.0", auth } }));
  const environment = { MEMCELL_CONFIG: file, MEMCELL_SERVE_ALLOWED_HOSTS: "Memory.example" };
  const access = {
    kind: "token",
    token: {
      issuer: "https://id.example",
      audience: "memory",
      keys: { kind: "public-key", file: join(folder.path, "key.pem") },
      userClaim: "sub",
      algorithms: ["ES256"],
      clockToleranceS: 5,
      scopes: null,
      origins: { clientClaim: "client_id", ofClients: new Map(), claim: null },
    },
  };
  const options = { ...defaults, access, host: "0.0.0.0", allowedHosts: ["Memory.example"] };
  expect(await served([], environment)).toEqual({ kind: "http", options, metrics: null });
});

test("tokens need scopes only if the operator says so, and then their names are the usual ones or others", async () => {
  const scopesFor = async (...args: string[]): Promise<unknown> => {
    const settings = await served(["--http", ...token, ...args]);
    return settings.kind === "http" && settings.options.access.kind === "token"
      ? settings.options.access.token.scopes
      : undefined;
  };
  expect(await scopesFor()).toBeNull();
  const usual = { claim: "scope", read: "memcell:read", write: "memcell:write" };
  expect(await scopesFor("--require-scopes")).toEqual(usual);
  const others = ["--scope-claim", "scp", "--read-scope", "Memory.Read", "--write-scope", "Memory.Write"];
  expect(await scopesFor("--require-scopes", ...others)).toEqual({
    claim: "scp",
    read: "Memory.Read",
    write: "Memory.Write",
  });
  await expect(scopesFor("--read-scope", "r")).rejects.toThrow(
    "serve.auth.readScope (flag --read-scope) is for the scopes of tokens, allowed: with serve.auth.requireScopes (--require-scopes)",
  );
  await expect(scopesFor("--require-scopes", "--read-scope", "m", "--write-scope", "m")).rejects.toThrow(
    "serve.auth.readScope (flag --read-scope) and serve.auth.writeScope (flag --write-scope) are the same, allowed: two names",
  );
  await expect(served(["--http", "--user", "alice", "--require-scopes"])).rejects.toThrow("do not go together");
  await expect(served(["--user", "alice"], { MEMCELL_SERVE_AUTH_REQUIRE_SCOPES: "true" })).rejects.toThrow(
    "is for HTTP",
  );
});

test("clients have the classes that the operator gives them", async () => {
  const clients = ["--client-origin", "web=direct_user", "--client-origin", "https://a.example/?b=c=tool_external"];
  const settings = ["--origin-class", "model_inference", ...clients, "--client-claim", "azp", "--origin-claim", "oc"];
  const ofClients = new Map([
    ["web", "direct_user"],
    ["https://a.example/?b=c", "tool_external"],
  ]);
  const origins = { clientClaim: "azp", ofClients, claim: "oc" };
  const options = { originClass: "model_inference", access: { token: { origins } } };
  expect(await served(["--http", ...token, ...settings])).toMatchObject({ options });
  expect(
    await served(["--http", ...token], { MEMCELL_SERVE_AUTH_CLIENT_ORIGINS: "a=owner_edit,b=unstated,a=owner_edit" }),
  ).toMatchObject({
    options: {
      access: { token: { origins: { ofClients: new Map(Object.entries({ a: "owner_edit", b: "unstated" })) } } },
    },
  });
});

test("adds the storage routes, with nothing that they do not need", async () => {
  expect(await served(["--http", ...token, "--storage"])).toMatchObject({
    options: { storage: { agentKeys: null, internalValues: false } },
  });
  const more = ["--storage", "--agent-keys", "keys.json", "--internal-values"];
  expect(await served(["--http", ...token, ...more])).toMatchObject({
    options: { storage: { agentKeys: "keys.json", internalValues: true } },
  });
});

test.for([
  { keys: "https://id.example/keys", is: { kind: "jwks-url", url: "https://id.example/keys" } },
  { keys: "http://localhost:1/keys", is: { kind: "jwks-url", url: "http://localhost:1/keys" } },
  { keys: "keys.json", is: { kind: "jwks-file", file: "keys.json" } },
])("reads keys from $keys", async ({ keys, is }) => {
  const args = ["--http", "--issuer", "i", "--audience", "a", "--jwks", keys];
  const algorithms = tokenAlgorithms;
  expect(await served(args)).toMatchObject({ options: { access: { token: { keys: is, algorithms } } } });
});

const ofLoopback = ["localhost", "127.0.0.1", "[::1]"];

test.for([
  { args: ["--host", "192.0.2.1"], is: ["192.0.2.1"] },
  { args: ["--host", "2001:DB8::1"], is: ["[2001:db8::1]"] },
  { args: ["--host", "::", "--public-url", "https://Memory.example:8443/mcp"], is: ["memory.example"] },
  { args: ["--allowed-host", "a.example", "--allowed-host", "A.example"], is: ["a.example", ...ofLoopback] },
  { args: ["--host", "localhost"], is: ofLoopback },
  { args: ["--host", "127.9.9.9"], is: ["127.9.9.9", ...ofLoopback] },
])("allowed Host headers: $args", async ({ args, is }) => {
  const settings = await served(["--http", ...token, ...args]);
  expect(settings.kind === "http" && [...allowedHostNames(settings.options)].toSorted()).toEqual(is.toSorted());
});

test.for<{ args: string[]; environment?: NodeJS.ProcessEnv; says: string }>([
  { args: [], says: "serve.user (--user) is missing" },
  {
    args: ["--user", "a", "--port", "1"],
    says: "serve.port (flag --port) is for HTTP, allowed: with serve.http (--http)",
  },
  { args: ["--user", "a", ...token], says: "serve.auth.issuer (flag --issuer) is for HTTP" },
  {
    args: ["--user", "a"],
    environment: { MEMCELL_SERVE_AUTH_ISSUER: "i" },
    says: "serve.auth.issuer (environment MEMCELL_SERVE_AUTH_ISSUER) is for HTTP",
  },
  { args: ["--http"], says: "nobody has access over HTTP, allowed: serve.auth.issuer (--issuer)" },
  {
    args: ["--http", "--user", "a", ...token],
    says: "serve.user (flag --user) and serve.auth.issuer (flag --issuer) do not go together",
  },
  {
    args: ["--http", ...token],
    environment: { MEMCELL_SERVE_USER: "a" },
    says: "serve.user (environment MEMCELL_SERVE_USER) and serve.auth.issuer (flag --issuer) do not go together",
  },
  { args: ["--http", "--audience", "a"], says: "serve.auth.issuer (--issuer) is missing: serve.auth.audience" },
  { args: ["--http", "--user-claim", "uid"], says: "serve.auth.issuer (--issuer) is missing" },
  { args: ["--http", "--issuer", "i", "--jwks", "k"], says: "serve.auth.audience (--audience) is missing" },
  { args: ["--http", "--issuer", "i", "--audience", "a"], says: "serve.auth.jwks (--jwks) is missing" },
  {
    args: ["--http", ...token, "--public-key", "k.pem"],
    says: "serve.auth.jwks (flag --jwks) and serve.auth.publicKey (flag --public-key) do not go together",
  },
  ...[
    "0.0.0.0",
    "::",
    "192.0.2.1",
    "example.com",
    "127.1",
    "0",
    "localhost.example",
    "::ffff:127.0.0.1",
    "127.0.0.999",
  ].map((host) => ({
    args: ["--http", "--user", "a", "--host", host],
    says: `serve.host (flag --host) is "${host}", allowed without tokens: a loopback address`,
  })),
  {
    args: ["--http", ...token, "--agent-keys", "keys.json"],
    says: "serve.agentKeys (flag --agent-keys) is for the storage routes, allowed: with serve.storage (--storage)",
  },
  {
    args: ["--http", ...token],
    environment: { MEMCELL_SERVE_INTERNAL_VALUES: "true" },
    says: "serve.internalValues (environment MEMCELL_SERVE_INTERNAL_VALUES) is for the storage routes",
  },
  {
    args: ["--http", "--storage", "--user", "a", "--agent-keys", "keys.json"],
    says: "serve.user (flag --user) and serve.agentKeys (flag --agent-keys) do not go together",
  },
  { args: ["--user", "a", "--storage"], says: "serve.storage (flag --storage) is for HTTP" },
  {
    args: ["--http", ...token, "--client-origin", "web=direct_user", "--client-origin", "web=tool_external"],
    says: 'serve.auth.clientOrigins (flag --client-origin) has two classes for "web", allowed: one',
  },
  {
    args: ["--http", ...token, "--client-origin", "web=tool_external", "--client-origin", "web=direct_user"],
    says: 'serve.auth.clientOrigins (flag --client-origin) has two classes for "web", allowed: one',
  },
  {
    args: ["--user", "a", "--client-origin", "web=direct_user"],
    says: "serve.auth.clientOrigins (flag --client-origin) is for HTTP",
  },
  {
    args: ["--user", "a"],
    environment: { MEMCELL_SERVE_AUTH_ORIGIN_CLAIM: "c" },
    says: "serve.auth.originClaim (environment MEMCELL_SERVE_AUTH_ORIGIN_CLAIM) is for HTTP",
  },
  {
    args: ["--http", "--user", "a", "--client-origin", "web=direct_user"],
    says: "serve.user (flag --user) and serve.auth.clientOrigins (flag --client-origin) do not go together",
  },
  { args: ["--http", ...token, "--host", "0.0.0.0"], says: "serve.allowedHosts (--allowed-host) is missing" },
])("refuses $args", async ({ args, environment = {}, says }) => {
  const mistake: unknown = await served(args, environment).catch((error: unknown) => error);
  expect(mistake).toBeInstanceOf(UsageError);
  expect((mistake as Error).message).toContain(says);
});
