/** Limits of run-history that need many runs or many events: more than a vector should hold. */
import { createHash } from "node:crypto";

import type { Runtime } from "memcell";
import { expect, test } from "vitest";

import { withUser } from "./full-folders.ts";

const alice = { userId: "alice" };
const run = (runId: string): object => ({ agentId: "planner", runId });
const note = (text: string): object => ({ type: "planner_note", data: JSON.stringify({ note: text }) });
const line = '{"type":"planner_note","timestamp":"2026-01-02T03:04:05Z","data":{"note":"n"},"labels":{}}\n';
const mib = 1024 * 1024;

async function dataOf<Data>(runtime: Runtime, tool: string, input: object): Promise<Data> {
  const result = await runtime.callAsHost(tool, input, alice);
  if (!result.ok) throw new Error(result.error.message);
  return result.data as Data;
}

test("a batch of 1,000 events is stored, and loaded in the order given", async () => {
  const events = Array.from({ length: 1000 }, (_, at) => note(`n${at}`));
  await withUser({}, async (runtime) => {
    expect(await dataOf(runtime, "AppendRunEvents", { ...run("run-1"), events })).toEqual({ appended: 1000 });
    const loaded = await dataOf<{ events: { data: string }[]; more: boolean }>(runtime, "LoadRun", run("run-1"));
    expect(loaded.more).toBe(false);
    expect(loaded.events.map(({ data }) => data)).toEqual(events.map((event) => (event as { data: string }).data));
  });
});

interface Listed {
  readonly entries: readonly { readonly runId: string }[];
  readonly after: string | null;
}

/** Every page of `ListRuns`: the runs of each. */
async function pagesOf(runtime: Runtime): Promise<string[][]> {
  const pages: string[][] = [];
  let after: string | null | undefined;
  while (after !== null) {
    const listed: Listed = await dataOf<Listed>(runtime, "ListRuns", after === undefined ? {} : { after });
    pages.push(listed.entries.map(({ runId }) => runId));
    after = listed.after;
  }
  return pages;
}

test("501 runs are listed in two pages, each run once", async () => {
  const ids = Array.from({ length: 501 }, (_, at) => `run-${String(at).padStart(3, "0")}`);
  await withUser(Object.fromEntries(ids.map((id) => [`runs/planner/${id}/000001.jsonl`, line])), async (runtime) => {
    const pages = await pagesOf(runtime);
    expect(pages.map(({ length }) => length)).toEqual([500, 1]);
    expect(pages.flat()).toEqual(ids);
  });
});

/** The files of a run with an id of 253 bytes that takes 1.5 KB in an answer. */
function oddRun(at: number): { id: string; files: Record<string, string> } {
  const id = `${String(at).padStart(3, "0")}${"\u0001".repeat(250)}`;
  const hash = createHash("sha256").update(id).digest("hex");
  const folder = `runs/planner/${id.slice(0, 3)}${"_.01".repeat(7)}_.x${hash}`;
  const time = "2026-01-02T03:04:05Z";
  const span = { lines: 0, bytes: 0, firstAt: "", lastAt: "" };
  const facts = { agentId: "planner", runId: id, createdAt: time, closedSegments: 0, closed: span, open: span };
  const head = { ...facts, lastAppend: { segment: 1, line: 0 }, appendIds: 0, appendIdFiles: 0 };
  return { id, files: { [`${folder}/run.json`]: JSON.stringify(head) } };
}

test("runs whose ids take much room in an answer are listed in more pages", async () => {
  const odd = Array.from({ length: 400 }, (_, at) => oddRun(at));
  await withUser(Object.assign({}, ...odd.map(({ files }) => files)) as Record<string, string>, async (runtime) => {
    const pages = await pagesOf(runtime);
    expect(pages.length).toBe(2);
    expect(pages.flat()).toEqual(odd.map(({ id }) => id));
    // The folder is the one that the tools give the id.
    expect(await dataOf(runtime, "DeleteRun", run(odd[0]?.id ?? ""))).toMatchObject({ files: 1 });
  });
});

test("beyond 64 MiB with the trash, QUOTA_EXCEEDED names the largest runs", async () => {
  const trash = Object.fromEntries(Array.from({ length: 63 }, (_, at) => [`runs/trash/t${at}.txt`, "x".repeat(mib)]));
  const files = {
    ...trash,
    "runs/trash/rest.txt": "x".repeat(mib - 3000),
    "runs/planner/large/000001.jsonl": line.repeat(20),
    "runs/planner/small/000001.jsonl": line,
  };
  await withUser(files, async (runtime) => {
    const input = { ...run("run-1"), events: [note("x".repeat(3000))] };
    const refused = await runtime.callAsHost("AppendRunEvents", input, alice);
    expect(refused).toMatchObject({ ok: false, error: { code: "QUOTA_EXCEEDED" } });
    expect(!refused.ok && refused.error.message).toMatch(
      /67108864.*Delete runs and purge the trash; the largest are "planner\/large" \(\d+ bytes\), "planner\/small"/,
    );
  });
});
