/** `memcell serve --http --metrics`: what a scraper reads after real calls, and who else can read it. */
import { request } from "node:http";

import { afterAll, beforeAll, expect, test } from "vitest";

import { codeIn, tableBelow } from "../documents/markdown-table.ts";
import { textOf } from "../documents/tracked-files.ts";
import { memcell } from "../stage/command.ts";
import { HttpProcess, tokenFlags } from "../stage/http-process.ts";
import { askServer } from "../stage/http-requests.ts";
import type { Answer, Asked } from "../stage/http-requests.ts";
import { connectClient } from "../stage/http.ts";
import { TokenIssuer } from "../stage/token-issuer.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const folder = temporaryFolder();
let issuing: TokenIssuer;
let served: HttpProcess;
let port: number;

beforeAll(async () => {
  issuing = await TokenIssuer.start();
  served = new HttpProcess([...tokenFlags(issuing), "--metrics", "127.0.0.1:0", "--threads-max", "2"], {
    cwd: folder.path,
  });
  const [, url = ""] = await served.line(/^memcell serve: metrics on (http:\/\/127\.0\.0\.1:\d+\/metrics)$/);
  port = Number(new URL(url).port);
});

afterAll(async () => {
  await served[Symbol.asyncDispose]();
  await issuing[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

const ask = (asked: Asked = {}): Promise<Answer> => askServer(port, { method: "GET", path: "/metrics", ...asked });

interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

const label = /(\w+)="((?:[^"\\\n]|\\[\\"n])*)"/g;

/** What a scraper reads. Each line that is no comment must be a sample. */
async function scrape() {
  const { status, headers, body } = await ask();
  expect({ status, type: headers["content-type"] }).toEqual({
    status: 200,
    type: "text/plain; version=0.0.4; charset=utf-8",
  });
  const lines = body.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  const samples = lines.map((line): Sample => {
    const [, name = "", labels = "", value = ""] = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
    expect([line, name !== "", labels.replaceAll(label, "").replaceAll(",", "")]).toEqual([line, true, ""]);
    const pairs = Array.from(labels.matchAll(label), ([, key = "", of = ""]) => [key, of] as const);
    return { name, labels: Object.fromEntries(pairs), value: Number(value) };
  });
  const types = new Map(Array.from(body.matchAll(/^# TYPE (\w+) (\w+)$/gm), ([, of = "", type = ""]) => [of, type]));
  return { text: body, samples, types };
}

/** The sum of the samples that have these labels. */
function valueOf({ samples }: { readonly samples: readonly Sample[] }, of: string, labels: object = {}): number {
  const fits = (sample: Sample): boolean =>
    sample.name === of && Object.entries(labels).every(([key, value]) => sample.labels[key] === value);
  return samples.filter(fits).reduce((sum, { value }) => sum + value, 0);
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
  for (const _ of [1, 2]) expect((await served.ask({ body: "{}" })).status).toBe(401);
  expect((await served.ask({ method: "GET", path: "/pomelo" })).status).toBe(404);

  const all = await scrape();
  const counts: readonly (readonly [metric: string, count: number, labels?: Readonly<Record<string, string>>])[] = [
    ["calls_total", 3, { tool: "UpdateUserMemory", outcome: "ok" }],
    ["calls_total", 1, { tool: "ReadUserMemory", outcome: "ok" }],
    ["calls_total", 1, { tool: "ReadUserMemory", outcome: "ENTRY_NOT_FOUND" }],
    ["calls_total", 3, { tool: "unknown", outcome: "TOOL_UNKNOWN" }],
    ["calls_waiting", 0],
    ["calls_running", 0],
    ["commit_duration_seconds_count", 3],
    ["refusals_total", 2, { surface: "http", reason: "token-missing" }],
    ["refusals_total", 1, { surface: "http", reason: "path-unknown" }],
    ["streams", 0],
  ];
  const found = counts.map(([metric, , labels]) => [metric, valueOf(all, `memcell_${metric}`, labels)]);
  expect(found).toEqual(counts.map(([metric, count]) => [metric, count]));
  // Two that run guests, one that stands by, and perhaps one that ends.
  expect([3, 4]).toContain(valueOf(all, "memcell_threads"));
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
  const rows = tableBelow(textOf("host/serve/http/README.md"), "Metrics");
  const told = rows.flatMap(([names = "", kinds = "", labels = ""]) => {
    const listed = kinds.split(", ");
    const of = (at: number): object => ({ type: listed[at] ?? listed[0], labels: codeIn(labels).toSorted() });
    return codeIn(names).map((each, at) => [each, of(at)]);
  });
  const present = Array.from(types, ([each, type]) => {
    const sample = samples.find(({ name }) => name === each || name === `${each}_count`);
    return [each, { type, labels: Object.keys(sample?.labels ?? {}).toSorted() }];
  });
  expect(Object.fromEntries(present)).toEqual(Object.fromEntries(told));
});

test.for<readonly [what: string, status: number, asked: Asked]>([
  ["another name of this address", 403, { headers: { host: "evil.example" } }],
  ["another path", 404, { path: "/" }],
  ["a query", 404, { path: "/metrics?x" }],
  ["another method", 405, { method: "POST", body: "x" }],
])("refuses %s", async ([, status, asked]) => {
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

test.for<readonly [how: string, args: readonly string[], says: string]>([
  ["over standard input and output", [], "is for HTTP"],
  ["on a port in use", ["--http", "--port", "0"], "the port is in use"],
])("does not start %s", async ([, args, says]) => {
  const address = ["--user", "a", "--metrics", `127.0.0.1:${port}`];
  const { status, stderr } = await memcell(["serve", ...args, ...address], { cwd: folder.path });
  expect({ status, stderr }).toEqual({ status: 2, stderr: expect.stringContaining(says) as unknown });
});

test("the metrics end with the process", async () => {
  expect(await served.end()).toMatchObject({ code: 0 });
  await expect(ask()).rejects.toThrow("ECONNREFUSED");
});
