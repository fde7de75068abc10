/** Tokens whose scopes say whether their requests may read, or also write. Each request counts for itself. */
import { afterAll, beforeAll, expect, test } from "vitest";

import { legacyRequest } from "../stage/http-requests.ts";
import type { Answer } from "../stage/http-requests.ts";
import { openHttpStage } from "../stage/http.ts";
import type { HttpStage, ServedHttp } from "../stage/http.ts";
import { entry } from "../stage/serve-lines.ts";

const scopes = { claim: "scope", read: "memcell:read", write: "memcell:write", owner: "memcell:owner" };
const publicUrl = "https://memory.example/mcp";
const metadata = "https://memory.example/.well-known/oauth-protected-resource/mcp";

let stage: HttpStage;
beforeAll(async () => {
  stage = await openHttpStage({ token: { scopes }, publicUrl });
  const writing = await tokenWith("openid memcell:write");
  await toolCall(writing, "UpdateUserMemory", entry("a"));
});
afterAll(() => stage[Symbol.asyncDispose]());

/** A token with a scope claim; none if it is `undefined`. */
const tokenWith = (scope: unknown): Promise<string> => stage.issuer.token("alice", { claims: { scope, jti: "t-1" } });

const toolCall = (token: string, name: string, input: object): Promise<Answer> =>
  stage.rpc(token, "tools/call", { name, arguments: input });

interface RpcBody {
  readonly result?: { readonly tools?: readonly { name: string; annotations: unknown }[]; readonly isError?: boolean };
  readonly error?: { readonly code: number; readonly data?: { readonly code: string } };
}

const bodyOf = ({ body }: Answer): RpcBody => JSON.parse(body) as RpcBody;
const toolsIn = (answer: Answer): string[] => bodyOf(answer).result?.tools?.map(({ name }) => name) ?? [];

const readingTools = ["memory_read", "memory_search", "ReadRunHistory", "memory", "ReadUserMemory", "SearchUserMemory"];

const claims: readonly (readonly [what: string, access: "read" | "write" | null, scope: unknown])[] = [
  ["both scopes", "write", "memcell:read memcell:write"],
  ["a scope among others", "read", "openid memcell:read profile"],
  ["an array with the scope to read", "read", ["openid", "memcell:read"]],
  ["an array with the scope to write", "write", ["memcell:write"]],
  ["no claim", null, undefined],
  ["null", null, null],
  ["longer names", null, "openid memcell:readonly memcell:writes"],
  ["names in other letters", null, "Memcell:Read MEMCELL:WRITE"],
  ["other white space between scopes", null, "openid\tmemcell:write,memcell:read"],
  ["a text with two scopes in an array", null, ["memcell:read memcell:write"]],
  ["an array with something that is no text", null, ["memcell:write", 1]],
  ["an object", null, { "memcell:write": true, includes: "memcell:write" }],
];

test.for(claims)("a token with %s allows %s", async ([, access, scope]) => {
  stage.forget();
  const answer = await stage.rpc(await tokenWith(scope), "tools/list");
  if (access !== null) {
    expect(answer.status).toBe(200);
    expect(toolsIn(answer).includes("UpdateUserMemory")).toBe(access === "write");
    if (access === "read") expect(toolsIn(answer)).toEqual(readingTools);
    return;
  }
  expect(answer.status).toBe(403);
  const error = { code: -32_000, message: "insufficient_scope" };
  expect(JSON.parse(answer.body)).toEqual({ jsonrpc: "2.0", id: null, error });
  expect(answer.headers["www-authenticate"]).toBe(
    `Bearer error="insufficient_scope", scope="memcell:read memcell:write", resource_metadata="${metadata}"`,
  );
  const refusal = { surface: "http", reason: "token-scope", userId: "alice", peer: "127.0.0.1" };
  expect(stage.refusals).toEqual([refusal]);
  expect(stage.records()).toMatchObject([{ kind: "refused", ...refusal }]);
});

test("a token that may only read calls what changes nothing, and everything else is unknown and on record", async () => {
  const token = await tokenWith("memcell:read");
  for (const mode of ["2026-07-28", "legacy"] as const) {
    const client = await stage.client(token, mode);
    expect(client.getInstructions()).toContain("Memory can only be read here");
  }
  const { result } = bodyOf(await stage.rpc(token, "tools/list"));
  expect(result?.tools?.map((tool) => tool.annotations)).toEqual(readingTools.map(() => annotations(true)));
  expect(bodyOf(await toolCall(token, "ReadUserMemory", { name: "a" })).result?.isError).toBeUndefined();
  expect((await stage.rpc(token, "prompts/get", { name: "memory" })).body).toContain("[a](a.md)");
  for (const name of ["UpdateUserMemory", "memory_write", "user-memory/UpdateUserMemory", "AppendRunEvents"]) {
    const { error } = bodyOf(await toolCall(token, name, entry("b")));
    expect(error).toMatchObject({ code: -32_602, data: { code: "TOOL_UNKNOWN" } });
  }
  const create = { command: "create", path: "/memories/x.md", content: "x" };
  expect((await toolCall(token, "memory", create)).body).toContain(
    "Unknown command: create. Use view, search, or stores.",
  );
  expect(bodyOf(await toolCall(token, "ReadUserMemory", { name: "b" })).result?.isError).toBe(true);
  expect(stage.records()).toContainEqual(
    expect.objectContaining({ kind: "call", tool: "UpdateUserMemory", userId: "alice", code: "TOOL_UNKNOWN" }),
  );
});

const annotations = (isReading: boolean): object => ({
  readOnlyHint: isReading,
  destructiveHint: !isReading,
  idempotentHint: isReading,
  openWorldHint: false,
});

test("tools that write are annotated as such", async () => {
  const { result } = bodyOf(await stage.rpc(await tokenWith("memcell:write"), "tools/list"));
  const told = Object.fromEntries((result?.tools ?? []).map((tool) => [tool.name, tool.annotations]));
  for (const name of ["UpdateUserMemory", "memory_write", "memory_update"]) {
    expect(told).toHaveProperty(name, annotations(false));
  }
  for (const name of readingTools.filter((each) => each !== "memory")) {
    expect(told).toHaveProperty(name, annotations(true));
  }
});

const listIn2025 = (token = ""): Promise<Answer> => stage.ask(legacyRequest(token, { id: 1, method: "tools/list" }));
const updateIn2025 = (token = "", id = 2): Promise<Answer> => {
  const params = { name: "UpdateUserMemory", arguments: entry("s") };
  return stage.ask(legacyRequest(token, { id, method: "tools/call", params }));
};

test("nothing remembers a scope: each request may do what its own token allows", async () => {
  const [reading, writing, none] = await Promise.all(
    ["memcell:read", "memcell:write", "openid"].map((each) => tokenWith(each)),
  );
  expect(toolsIn(await listIn2025(writing))).toContain("UpdateUserMemory");
  expect(toolsIn(await listIn2025(reading))).toEqual(readingTools);
  expect((await listIn2025(none)).status).toBe(403);
  expect(bodyOf(await updateIn2025(writing)).error).toBeUndefined();
  expect(bodyOf(await updateIn2025(reading)).error).toMatchObject({ code: -32_602 });
  expect((await updateIn2025(none)).status).toBe(403);
  expect(bodyOf(await updateIn2025(writing)).error).toBeUndefined();
  // At the same time.
  const both = await Promise.all([3, 4, 5, 6].map((id) => updateIn2025(id % 2 === 1 ? writing : reading, id)));
  expect(both.map((each) => bodyOf(each).error?.code)).toEqual([undefined, -32_602, undefined, -32_602]);
});

test("challenges and metadata say where to get a token, and with which scopes", async () => {
  const headers = { "content-type": "application/json" };
  const missing = await stage.ask({ body: "{}", headers });
  const challenge = `Bearer scope="memcell:read memcell:write", resource_metadata="${metadata}"`;
  expect([missing.status, missing.headers["www-authenticate"]]).toEqual([401, challenge]);
  const found = await stage.ask({ method: "GET", path: new URL(metadata).pathname });
  expect([found.status, JSON.parse(found.body)]).toEqual([
    200,
    {
      resource: publicUrl,
      authorization_servers: ["https://issuer.example"],
      bearer_methods_supported: ["header"],
      resource_name: "memcell",
      scopes_supported: ["memcell:read", "memcell:write"],
    },
  ]);
});

test("a token without a scope counts in its user's rate, and not as a bad token", async () => {
  await using own = await stage.serve({ token: { scopes }, requestsPerMinute: 2 });
  const token = await tokenWith("openid");
  for (const status of [403, 403, 429]) expect(await own.rpc(token, "tools/list")).toMatchObject({ status });
});

test("claim and names can be others, and then the usual ones count nothing", async () => {
  await using own = await stage.serve({
    token: { scopes: { claim: "scp", read: "Memory.Read", write: "Memory.Write", owner: "Memory.Owner" } },
  });
  const allowing = async (of: object): Promise<number> =>
    (await own.rpc(await stage.issuer.token("alice", { claims: { ...of } }), "tools/list")).status;
  expect(await allowing({ scp: ["Memory.Read"] })).toBe(200);
  expect(await allowing({ scp: "User.Read Memory.Write" })).toBe(200);
  expect(await allowing({ scope: "Memory.Write" })).toBe(403);
  expect(await allowing({ scp: "memcell:write", scope: "memcell:write" })).toBe(403);
  await using odd = await stage.serve({ token: { scopes: { ...scopes, claim: "__proto__" } } });
  expect((await odd.rpc(await tokenWith("memcell:write"), "tools/list")).status).toBe(403);
});

test("without the setting, scopes mean nothing", async () => {
  await using own: ServedHttp = await stage.serve({ publicUrl });
  for (const scope of [undefined, "memcell:read", "openid", 7]) {
    expect(toolsIn(await own.rpc(await tokenWith(scope), "tools/list"))).toContain("UpdateUserMemory");
  }
  const found = await own.ask({ method: "GET", path: "/.well-known/oauth-protected-resource/mcp" });
  expect(JSON.parse(found.body)).not.toHaveProperty("scopes_supported");
});
