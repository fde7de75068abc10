/** `memcell stores` on the command line. */
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

import { storeIdOf } from "memcell";
import { afterAll, beforeAll, expect, test } from "vitest";

import { temporaryFolder } from "../support/temporary-folder.ts";

const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());
const program = fileURLToPath(new URL("../../dist/host/cli/main.js", import.meta.url));
const [aliceStore, plannerStore, criticStore] = [storeIdOf("alice"), storeIdOf("planner"), storeIdOf("critic")];

function memcell(...args: readonly string[]) {
  return spawnSync(process.execPath, [program, ...args, "--data", folder.path], { encoding: "utf8" });
}

const stores = (...args: readonly string[]) => memcell("stores", ...args);

function view(userId: string): unknown {
  const input = JSON.stringify({ command: "view", path: `/memories/shared/${aliceStore}/diet.md` });
  return JSON.parse(memcell("call", "memory", "--plugin", "stores", "--input", input, "--user", userId).stdout);
}

beforeAll(() => {
  const input = JSON.stringify({ command: "create", path: "/memories/diet.md", content: "no nuts" });
  expect(memcell("call", "memory", "--plugin", "stores", "--input", input, "--user", "alice")).toMatchObject({
    status: 0,
  });
});

const granted = (id: string): object => ({ status: 0, stdout: `Granted to the user with the store ${id}\n` });

test("a grant opens the store until it is revoked, and list and show print it", () => {
  expect(view("planner")).toMatchObject({ ok: false, error: { code: "ACCESS_DENIED" } });

  expect(stores("grant", "planner", "--user", "alice")).toMatchObject(granted(plannerStore));
  const longer = ["grant", criticStore, "--level", "search", "--expires-in", "30d"];
  expect(stores(...longer, "--user", "alice")).toMatchObject(granted(criticStore));
  expect(view("planner")).toMatchObject({ ok: true, message: `[created by ${aliceStore}]\n| no nuts` });
  expect(view("critic")).toMatchObject({ ok: false, error: { code: "ACCESS_DENIED" } });

  const list = stores("list", "--user", "planner");
  expect(list.stdout).toBe(`\
store                                 level      why
${plannerStore}  readwrite  self
${aliceStore}  read       grant
`);
  const { stdout } = stores("show", "--user", "alice");
  const lines = stdout.trimEnd().split("\n");
  expect(lines.slice(0, 2)).toEqual([
    `Store ${aliceStore}`,
    expect.stringMatching(/^grantee +level +granted +expires$/),
  ]);
  expect(lines).toHaveLength(4);
  expect(lines).toContainEqual(expect.stringMatching(new RegExp(`^${plannerStore}  read    20\\S+Z  never$`)));
  expect(lines).toContainEqual(expect.stringMatching(new RegExp(`^${criticStore}  search  20\\S+Z  20\\S+Z$`)));

  expect(stores("revoke", plannerStore, "--user", "alice")).toMatchObject({ status: 0, stdout: "Revoked\n" });
  expect(stores("revoke", "planner", "--user", "alice")).toMatchObject({ stdout: "There was no grant\n" });
  expect(view("planner")).toMatchObject({ ok: false, error: { code: "ACCESS_DENIED" } });
});

test("--json prints what a script needs", () => {
  expect(JSON.parse(stores("list", "--json", "--user", "critic").stdout)).toEqual([
    { id: criticStore, level: "readwrite", source: "self" },
    { id: aliceStore, level: "search", source: "grant" },
  ]);
  expect(JSON.parse(stores("show", "--json", "--user", "bob").stdout)).toEqual({ store: storeIdOf("bob"), grants: [] });
});

test("a grantee leaves a store out of its list, and rejoins it", () => {
  const other = storeIdOf("reviewer");
  stores("grant", other, "--user", "alice");
  const listed = (): boolean => stores("list", "--user", "reviewer").stdout.includes(aliceStore);
  const asReviewer = (action: string): unknown => stores(action, aliceStore, "--user", "reviewer").stdout;
  expect([listed(), asReviewer("leave"), listed()]).toEqual([true, "Left\n", false]);
  expect(view("reviewer")).toMatchObject({ ok: true });
  expect(asReviewer("leave")).toBe("There was no grant, or the store is left already\n");
  expect([asReviewer("rejoin"), listed()]).toEqual(["Rejoined\n", true]);
  expect(asReviewer("rejoin")).toBe("The store was not left\n");
});

test.for([
  { args: ["show", "planner"], reason: 'unexpected argument "planner"' },
  { args: ["grant"], reason: "the grantee is missing" },
  { args: ["grant", "bob", "--level", "owner"], reason: "allowed: search, read, readwrite" },
  { args: ["grant", "bob", "--expires-in", "soon"], reason: "--expires-in" },
  { args: ["grant", "bob", "--expires-in", "0s"], reason: '--expires-in is "0s", allowed: more than 0' },
  { args: ["grant", "a/b"], reason: 'the grantee is "a/b", allowed: the id of a store' },
  { args: ["revoke", aliceStore.toUpperCase()], reason: "the grantee is" },
  { args: ["leave"], reason: "the store is missing" },
  { args: ["leave", "alice"], reason: 'the store is "alice", allowed: the id of a store' },
  { args: ["revoke", "bob", "--level", "read"], reason: "--level is for grant" },
  { args: ["open"], reason: "allowed: list, show, grant, revoke, clear" },
])("$args is refused before anything is opened", ({ args, reason }) => {
  // Whatever is opened first would refuse this plugin.
  const { status, stderr } = stores(...args, "--user", "alice", "--plugin", "none.wasm");
  expect({ status, stderr }).toEqual({ status: 2, stderr: expect.stringContaining(reason) });
});

test("a grant to oneself is refused with its code", () => {
  const { status, stdout } = stores("grant", "alice", "--user", "alice");
  expect(status).toBe(1);
  expect(JSON.parse(stdout)).toMatchObject({ ok: false, error: { code: "INPUT_INVALID" } });
});
