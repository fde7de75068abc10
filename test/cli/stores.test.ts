/** `memcell stores`: grants of a user's own store, and the list of those that a user reaches. */
import { storeIdOf } from "memcell";
import { afterAll, beforeAll, expect, test } from "vitest";

import { commandStage, errorOf } from "./command-stage.ts";

const at = commandStage();
afterAll(() => at[Symbol.dispose]());
const [aliceStore, plannerStore, criticStore] = [storeIdOf("alice"), storeIdOf("planner"), storeIdOf("critic")];

const stores = (user: string, ...args: readonly string[]) => at.memcell("stores", ...args, "--user", user);

const memory = (user: string, input: object) =>
  at.memcell("call", "memory", "--plugin", "stores", "--input", JSON.stringify(input), "--user", user);
const view = async (user: string): Promise<unknown> =>
  JSON.parse((await memory(user, { command: "view", path: `/memories/shared/${aliceStore}/diet.md` })).stdout);

beforeAll(async () => {
  await memory("alice", { command: "create", path: "/memories/diet.md", content: "no nuts" });
});

const granted = (id: string): object => ({ status: 0, stdout: `Granted to the user with the store ${id}\n` });
const denied = { ok: false, error: { code: "ACCESS_DENIED" } };

test("a grant opens the store until it is revoked, and list and show print it", async () => {
  expect(await stores("alice", "grant", "planner")).toMatchObject(granted(plannerStore));
  const longer = ["grant", criticStore, "--level", "search", "--expires-in", "30d"];
  expect(await stores("alice", ...longer)).toMatchObject(granted(criticStore));
  expect(await view("planner")).toMatchObject({ ok: true, message: `[created by ${aliceStore}]\n| no nuts` });
  expect(await view("critic")).toMatchObject(denied);

  expect((await stores("planner", "list")).stdout).toBe(`\
store                                 level      why
${plannerStore}  readwrite  self
${aliceStore}  read       grant
`);
  const [store, heading, ...grants] = (await stores("alice", "show")).stdout.trimEnd().split("\n");
  expect([store, heading?.split(/ +/)]).toEqual([`Store ${aliceStore}`, ["grantee", "level", "granted", "expires"]]);
  expect(grants).toHaveLength(2);
  expect(grants).toContainEqual(expect.stringMatching(new RegExp(`^${plannerStore}  read    20\\S+Z  never$`)));
  expect(grants).toContainEqual(expect.stringMatching(new RegExp(`^${criticStore}  search  20\\S+Z  20\\S+Z$`)));
  expect(JSON.parse((await stores("critic", "list", "--json")).stdout)).toEqual([
    { id: criticStore, level: "readwrite", source: "self" },
    { id: aliceStore, level: "search", source: "grant" },
  ]);

  expect(await stores("alice", "revoke", plannerStore)).toMatchObject({ status: 0, stdout: "Revoked\n" });
  expect(await stores("alice", "revoke", "planner")).toMatchObject({ stdout: "There was no grant\n" });
  expect(await view("planner")).toMatchObject(denied);
});

test("a grantee leaves a store out of its list, and rejoins it", async () => {
  await stores("alice", "grant", storeIdOf("reviewer"));
  const said = async (action: string): Promise<string> => (await stores("reviewer", action, aliceStore)).stdout;
  const isListed = async (): Promise<boolean> => (await stores("reviewer", "list")).stdout.includes(aliceStore);
  expect(await isListed()).toBe(true);
  expect(await said("leave")).toBe("Left\n");
  expect(await isListed()).toBe(false);
  expect(await said("leave")).toBe("There was no grant, or the store is left already\n");
  expect(await said("rejoin")).toBe("Rejoined\n");
  expect(await isListed()).toBe(true);
  expect(await said("rejoin")).toBe("The store was not left\n");
});

test("a user without a store has no grants to show, and cannot grant to oneself", async () => {
  expect(JSON.parse((await stores("bob", "show", "--json")).stdout)).toEqual({ store: storeIdOf("bob"), grants: [] });
  expect(errorOf(await stores("alice", "grant", "alice")).code).toBe("INPUT_INVALID");
});
