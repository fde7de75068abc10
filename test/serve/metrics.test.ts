/** `memcell serve --http --metrics`: what a scraper reads after real calls, and who else can read it. */
import { writeFileSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";

import { afterAll, beforeAll, expect, test } from "vitest";

import { codeIn, tableBelow } from "../documents/markdown-table.ts";
import { textOf } from "../documents/tracked-files.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { HttpProcess } from "./http-process.ts";
import { askServer } from "./http-requests.ts";
import type { Answer, Asked } from "./http-requests.ts";
import { connectClient } from "./http-stage.ts";
import { readPrometheus, valueOf } from "./prometheus-text.ts";
import type { Scrape } from "./prometheus-text.ts";
import { audience, issuer, TokenIssuer } from "./token-issuer.ts";

const folder = temporaryFolder();
let issuing: TokenIssuer;
let served: HttpProcess;
let port: number;

beforeAll(async () => {
  issuing = await TokenIssuer.start();
  writeFileSync(join(folder.path, "keys.json"), JSON.stringify(await issuing.keySet()));
  const tokens = ["--issuer", issuer, "--audience", audience, "--jwks", "keys.json"];
  served = new HttpProcess([...tokens, "--metrics", "127.0.0.1:0", "--threads-max", "2"], { cwd: folder.path });
  const [, url = ""] = await served.line(/^memcell serve: metrics on (http:\/\/127\.0\.0\.1:\d+\/metrics)$/);
  port = Number(new URL(url).port);
});

afterAll(async () => {
  await served[Symbol.asyncDispose]();
  await issuing[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

const ask = (asked: Asked = {}): Promise<Answer> => askServer(port, { method: "GET", path: "/metrics", ...asked });

async function scrape(): Promise<Scrape & { readonly text: string }> {
  const { status, headers, body } = await ask();
  expect({ status, type: headers["content-type"], connection: headers.connection }).toEqual({
    status: 200,
    connection: "close",
    type: "text/plain; version=0.0.4; charset=utf-8",
  });
  return { ...readPrometheus(body), text: body };
}

const upsert = (name: string) => ({ action: "upsert", name, type: "user", description: "kumquat", body: "kumquat" });

test("real calls and refusals are counted, and nothing of users, clients or contents is shown", async () => {
  const client = await connectClient(await served.url(), await issuing.token("mallory"), "legacy");
  for (const name of ["one", "two", "three"]) {
    await client.callTool({ name: "UpdateUserMemory", arguments: upsert(name) });
  }
  await client.callTool({ name: "ReadUserMemory", arguments: { name: "one" } });
  await client.callTool({ name: "ReadUserMemory", arguments: { name: "pomelo" } });
  for (const name of ["Made", 'up"} 1\nmemcell_fake 1', "UpdateUserMemory2"]) {
    await client.callTool({ name, arguments: {} }).catch(() => null);
  }
  expect((await served.ask({ body: "{}" })).status).toBe(401);
  expect((await served.ask({ body: "{}" })).status).toBe(401);
  expect((await served.ask({ method: "GET", path: "/pomelo" })).status).toBe(404);

  const all = await scrape();
  const calls = (tool: string, outcome: string): number => valueOf(all, "memcell_calls_total", { tool, outcome });
  expect({
    stored: calls("UpdateUserMemory", "ok"),
    read: calls("ReadUserMemory", "ok"),
    missing: calls("ReadUserMemory", "ENTRY_NOT_FOUND"),
    unknown: calls("unknown", "TOOL_UNKNOWN"),
    waiting: valueOf(all, "memcell_calls_waiting"),
    running: valueOf(all, "memcell_calls_running"),
    commits: valueOf(all, "memcell_commit_duration_seconds_count"),
    tokens: valueOf(all, "memcell_refusals_total", { surface: "http", reason: "token-missing" }),
    paths: valueOf(all, "memcell_refusals_total", { surface: "http", reason: "path-unknown" }),
    sessions: valueOf(all, "memcell_sessions"),
    // Two that run guests, and one that stands by.
    threads: valueOf(all, "memcell_threads"),
  }).toEqual({
    stored: 3,
    read: 1,
    missing: 1,
    unknown: 3,
    waiting: 0,
    running: 0,
    commits: 3,
    tokens: 2,
    paths: 1,
    sessions: 1,
    threads: 3,
  });
  for (const histogram of ["call", "call_wait", "call_guest"]) {
    const of = (part: string, labels = {}): number =>
      valueOf(all, `memcell_${histogram}_duration_seconds_${part}`, { tool: "UpdateUserMemory", ...labels });
    expect([of("count"), of("bucket", { le: "+Inf" })]).toEqual([3, 3]);
    expect(of("sum")).toBeGreaterThan(0);
  }
  const sum = (histogram: string): number => valueOf(all, `memcell_${histogram}_duration_seconds_sum`);
  expect(sum("call_wait") + sum("call_guest")).toBeLessThanOrEqual(sum("call"));
  for (const text of ["mallory", "kumquat", "pomelo", "Made", "fake", "three", folder.path, process.execPath]) {
    expect(all.text).not.toContain(text);
  }
  await client.close();
  expect((await served.ask({ method: "GET", path: "/metrics" })).status).toBe(404);
});

test("the README's table has the metrics, their types and their labels", async () => {
  const { types, samples } = await scrape();
  const told = tableBelow(textOf("host/serve/http/README.md"), "Metrics").flatMap(
    ([names = "", kinds = "", labels = ""]) => {
      const listed = kinds.split(", ");
      return codeIn(names).map((each, at) => [
        each,
        { type: listed[at] ?? listed[0], labels: codeIn(labels).toSorted() },
      ]);
    },
  );
  const present = Array.from(types, ([each, type]) => {
    const sample = samples.find(({ name }) => name === each || name === `${each}_count`);
    return [each, { type, labels: Object.keys(sample?.labels ?? {}).toSorted() }];
  });
  expect(Object.fromEntries(present)).toEqual(Object.fromEntries(told));
});

test.for([
  { name: "another name of this address", asked: { headers: { host: "evil.example" } }, status: 403 },
  { name: "no name", asked: { headers: { host: "" } }, status: 403 },
  { name: "another path", asked: { path: "/" }, status: 404 },
  { name: "a query", asked: { path: "/metrics?x" }, status: 404 },
  { name: "a path in another spelling", asked: { path: "//metrics" }, status: 404 },
  { name: "another method", asked: { method: "POST", body: "x" }, status: 405 },
])("refuses $name", async ({ asked, status }) => {
  const answer = await ask(asked);
  expect(answer.status).toBe(status);
  expect(answer.body).not.toContain("memcell_");
});

test("answers HEAD, and by the names of this machine", async () => {
  for (const host of ["localhost:1", "127.0.0.1", `[::1]:${port}`]) {
    expect((await ask({ method: "HEAD", headers: { host } })).status).toBe(200);
  }
});

test("a client that sends slowly or nothing keeps nobody out", async () => {
  const idle = Array.from({ length: 20 }, () => request({ port, host: "127.0.0.1", path: "/metrics" }));
  for (const each of idle) {
    each.on("error", () => {});
    each.flushHeaders();
  }
  expect((await ask()).status).toBe(200);
  for (const each of idle) each.destroy();
});

test.for([
  { name: "over standard input and output", args: ["--user", "a"], isHttp: false, says: "is for HTTP" },
  { name: "on a port in use", args: ["--user", "a"], isHttp: true, says: "the port is in use" },
])("does not start $name", async ({ args, isHttp, says }) => {
  await using other = new HttpProcess([...args, "--metrics", `127.0.0.1:${port}`], { cwd: folder.path, isHttp });
  const { code, lines } = await other.ended;
  expect({ code, lines: lines.join("\n") }).toEqual({ code: 2, lines: expect.stringContaining(says) as string });
});

test("the metrics end last, and with the process", async () => {
  await using other = new HttpProcess(["--user", "alice", "--metrics", "localhost:0"], { cwd: folder.path });
  const [, url = ""] = await other.line(/^memcell serve: metrics on (\S+)$/);
  expect(url).toMatch(/^http:\/\/localhost:\d+\/metrics$/);
  expect((await fetch(url)).status).toBe(200);
  expect(await other.end()).toMatchObject({ code: 0 });
  await expect(fetch(url)).rejects.toThrow("fetch failed");
});
