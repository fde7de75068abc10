/** The settings of `memcell serve` must be consistent, so that nobody is served whom the operator did not intend. */
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { afterAll, expect, test } from "vitest";

import { readSettings } from "../../host/config/read-settings.ts";
import { serveSettings } from "../../host/config/serve-settings.ts";
import type { ServeSettings } from "../../host/config/serve-settings.ts";
import { memcell } from "../stage/command.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());

/** Variables by their names behind MEMCELL_SERVE_. */
type Said = Readonly<Record<string, string>>;

const variables = (said: Said): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(said).map(([name, value]) => [`MEMCELL_SERVE_${name}`, value]));

const served = async (said: Said, more: NodeJS.ProcessEnv = {}): Promise<ServeSettings> =>
  serveSettings(await readSettings({ given: new Map(), environment: { ...variables(said), ...more } }));

const http = { HTTP: "true" };
const token = {
  ...http,
  AUTH_ISSUER: "https://id.example",
  AUTH_AUDIENCE: "memory",
  AUTH_JWKS: "https://id.example/keys",
};
const defaults = {
  host: "127.0.0.1",
  port: 7391,
  path: "/mcp",
  page: null,
  allowedHosts: [],
  allowedOrigins: [],
  storage: null,
  originClass: "unstated",
  publicUrl: null,
  bodyBytesMax: 1_048_576,
  requestsPerMinute: 600,
  streamsPerUserMax: 32,
  closeGraceMs: 10_000,
};

test("one user is served over standard input and output, also beside settings for HTTP", async () => {
  const stdio = { kind: "stdio", userId: "alice", originClass: "unstated" };
  expect(await served({ USER: "alice" })).toEqual(stdio);
  expect(await served({ USER: "alice", PORT: "1" })).toEqual(stdio);
  expect(await served({ USER: "alice", ORIGIN_CLASS: "direct_user" })).toEqual({
    ...stdio,
    originClass: "direct_user",
  });
});

test("one user is served over HTTP, with the documented defaults", async () => {
  const options = { ...defaults, access: { kind: "one-user", userId: "alice" } };
  expect(await served({ ...http, USER: "alice" })).toEqual({ kind: "http", options, metrics: null });
});

test("users with tokens are served over HTTP, from an environment and a file", async () => {
  const file = join(folder.path, "serve.json");
  const issued = { issuer: "https://id.example", audience: "memory" };
  const auth = { ...issued, publicKey: "key.pem", algorithms: ["ES256", "ES256"] };
  writeFileSync(file, JSON.stringify({ serve: { http: true, host: "0.0.0.0", auth } }));
  const access = {
    kind: "token",
    token: {
      ...issued,
      clientsWithoutAudience: [],
      keys: { kind: "public-key", file: join(folder.path, "key.pem") },
      userClaim: "sub",
      algorithms: ["ES256"],
      clockToleranceS: 5,
      scopes: null,
      origins: { clientClaim: "client_id", ofClients: new Map(), claim: null },
    },
  };
  const options = { ...defaults, access, host: "0.0.0.0", allowedHosts: ["Memory.example"] };
  const settings = await served({ ALLOWED_HOSTS: "Memory.example" }, { MEMCELL_CONFIG: file });
  expect(settings).toEqual({ kind: "http", options, metrics: null });
});

test.for<readonly [what: string, said: Said, options: object]>([
  [
    "the usual scopes",
    { AUTH_REQUIRE_SCOPES: "true" },
    {
      access: {
        token: { scopes: { claim: "scope", read: "memcell:read", write: "memcell:write", owner: "memcell:owner" } },
      },
    },
  ],
  [
    "other scopes",
    { AUTH_REQUIRE_SCOPES: "true", AUTH_SCOPE_CLAIM: "scp", AUTH_READ_SCOPE: "M.R", AUTH_WRITE_SCOPE: "M.W" },
    { access: { token: { scopes: { claim: "scp", read: "M.R", write: "M.W", owner: "memcell:owner" } } } },
  ],
  [
    "classes of clients, one of them twice",
    {
      ORIGIN_CLASS: "model_inference",
      AUTH_CLIENT_ORIGINS: "web=direct_user,https://a.example/?b=c=tool_external,web=direct_user",
      AUTH_CLIENT_CLAIM: "azp",
      AUTH_ORIGIN_CLAIM: "oc",
    },
    {
      originClass: "model_inference",
      access: {
        token: {
          origins: {
            clientClaim: "azp",
            ofClients: new Map(Object.entries({ web: "direct_user", "https://a.example/?b=c": "tool_external" })),
            claim: "oc",
          },
        },
      },
    },
  ],
  [
    "the storage routes with keys and internal values",
    { STORAGE: "true", AGENT_KEYS: "keys.json", INTERNAL_VALUES: "true" },
    { storage: { agentKeys: "keys.json", internalValues: true } },
  ],
  [
    "keys from a file",
    { AUTH_JWKS: "keys.json" },
    { access: { token: { keys: { kind: "jwks-file", file: "keys.json" } } } },
  ],
])("tokens with %s", async ([, said, options]) => {
  expect(await served({ ...token, ...said })).toMatchObject({ kind: "http", options });
});

const withTokens = "--http --issuer https://id.example --audience memory --jwks https://id.example/keys";
const notLoopback = ["0.0.0.0", "::", "192.0.2.1", "example.com", "::ffff:127.0.0.1"];
const [missing, apart, forHttp] = ["is missing", "do not go together", "is for HTTP"];
const [user, issuer] = ["serve.user (flag --user)", "serve.auth.issuer (flag --issuer)"];
const ofEnvironment = (name: string): string => `(environment MEMCELL_SERVE_${name})`;
const keys = "serve.agentKeys (flag --agent-keys)";
const clients = "serve.auth.clientOrigins (flag --client-origin)";
const readScope = "serve.auth.readScope (flag --read-scope)";
const publicUrl = "--public-url https://memory.example/mcp";
const web = "--client-origin web=direct_user";

test.for<readonly [line: string, said: Said, says: string]>([
  ["", {}, `serve.user (--user) ${missing}`],
  ["--user a --port 1", {}, `serve.port (flag --port) ${forHttp}, allowed: with serve.http (--http)`],
  ["--user a", { AUTH_ISSUER: "i" }, `serve.auth.issuer ${ofEnvironment("AUTH_ISSUER")} ${forHttp}`],
  ["--http", {}, "nobody has access over HTTP, allowed: serve.auth.issuer (--issuer)"],
  [`${withTokens} --user a`, {}, `${user} and ${issuer} ${apart}`],
  ["--http --user a --require-scopes", {}, apart],
  ["--http --user a --storage --agent-keys keys.json", {}, `${user} and ${keys} ${apart}`],
  [`--http --user a ${web}`, {}, `${user} and ${clients} ${apart}`],
  ["--http --audience a", {}, `serve.auth.issuer (--issuer) ${missing}: serve.auth.audience`],
  ["--http --issuer i --jwks k", {}, `serve.auth.audience (--audience) ${missing}`],
  [`${withTokens} --host 0.0.0.0`, {}, `serve.allowedHosts (--allowed-host) ${missing}`],
  [`${withTokens} --public-key k.pem`, {}, `(flag --jwks) and serve.auth.publicKey (flag --public-key) ${apart}`],
  [`${withTokens} --agent-keys k`, {}, `${keys} is for the storage routes, allowed: with serve.storage (--storage)`],
  [withTokens, { INTERNAL_VALUES: "true" }, `${ofEnvironment("INTERNAL_VALUES")} is for the storage routes`],
  [
    `${withTokens} --page-key k`,
    {},
    "serve.pageKey (flag --page-key) is for the page, allowed: with serve.page (--page)",
  ],
  [`${withTokens} --page`, {}, `serve.publicUrl (--public-url) ${missing}: the issuer sends the browser back there`],
  [`${withTokens} ${publicUrl} --page --page-key k`, {}, `serve.pageClient (--page-client) ${missing}`],
  [`${withTokens} ${publicUrl} --page --page-client p`, {}, `serve.pageKey (--page-key) ${missing}`],
  ["--http --user a --page", {}, `serve.page (flag --page) and ${user} ${apart}: nobody signs in for one user`],
  [
    `${withTokens} ${publicUrl} --page --page-client p --page-key none.key`,
    {},
    "Cannot use the key of the page: it cannot be read",
  ],
  [
    `${withTokens} --require-scopes --owner-scope memcell:write`,
    {},
    "serve.auth.writeScope (default) and serve.auth.ownerScope (flag --owner-scope) are the same, allowed: two names",
  ],
  [
    `${withTokens} --read-scope r`,
    {},
    `${readScope} is for the scopes of tokens, allowed: with serve.auth.requireScopes`,
  ],
  [
    `${withTokens} --require-scopes --read-scope m --write-scope m`,
    {},
    `${readScope} and serve.auth.writeScope (flag --write-scope) are the same, allowed: two names`,
  ],
  [`${withTokens} ${web} --client-origin web=tool_external`, {}, `${clients} has two classes for "web", allowed: one`],
  ...[...notLoopback, "127.0.0.999"].map((host): readonly [string, Said, string] => {
    const says = `serve.host (flag --host) is "${host}", allowed without tokens: a loopback address`;
    return [`--http --user a --host ${host}`, {}, says];
  }),
])("serve %s %j is refused and makes nothing", async ([line, said, says]) => {
  const args = line.split(" ").filter((word) => word !== "");
  const { status, stdout, stderr } = await memcell(["serve", ...args], { env: variables(said), cwd: folder.path });
  expect({ status, stdout }).toEqual({ status: 2, stdout: "" });
  expect(stderr).toContain(says);
  expect(existsSync(join(folder.path, "data"))).toBe(false);
});
