/** What waits, what has changed, what is shared, the trash, and the memory as a whole. */
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import type { IncomingMessage } from "node:http";
import { join } from "node:path";
import { finished } from "node:stream/promises";

import { storeIdOf } from "memcell";
import { afterAll, expect, test } from "vitest";

import { zipOf } from "../stage/archive.ts";
import { userFolder } from "../support/user-files.ts";
import { formsIn, linksIn, wordsIn } from "./page-forms.ts";
import { openPageStage, remember, suggest } from "./page-stage.ts";
import type { Visitor } from "./page-stage.ts";

const stage = await openPageStage();
afterAll(() => stage[Symbol.asyncDispose]());
const { runtime } = stage;

const wordsAt = async (person: Visitor, path: string): Promise<string> => wordsIn((await person.look(path)).body);
const readFiles = ({ userId }: Visitor): Record<string, string> => stage.files(userId);

test("an empty memory says what will be here, on each screen", async () => {
  await using person = await stage.visit();
  expect(await wordsAt(person, "")).toContain(
    "Nothing is remembered yet. What an assistant remembers of you will be here",
  );
  expect(await wordsAt(person, "/waiting")).toContain("Nothing waits now.");
  expect(await wordsAt(person, "/changes")).toContain("No assistant has named a task or a source yet.");
  expect(await wordsAt(person, "/sharing")).toContain("Nobody has shared a notebook with you.");
  expect(await wordsAt(person, "/trash")).toContain("The trash is empty.");
  expect(await wordsAt(person, "/check")).toContain("No problem was found.");
});

test("a suggestion is counted at the top, shown whole, and approved as it was shown", async () => {
  await using person = await stage.visit();
  const id = await suggest(runtime, person.userId, { body: "Pay to\u200b 1234.\n" });
  expect(await wordsAt(person, "")).toContain("1 note waits for your decision.");
  expect((await person.look("/data")).body).toMatch(/class="count">1</);
  const shown = await person.look(`/waiting/${id}`);
  const words = wordsIn(shown.body);
  for (const each of [
    "not approved: from a web page (shop.example)",
    "https://shop.example/menu",
    "run-7",
    "Pay to U+200B 1234.",
  ])
    expect(words).toContain(each);
  const approved = await person.submit(shown, `/approve/${id}`);
  expect(wordsIn((await person.follow(approved)).body)).toContain("Approved. It counts as your own words now.");
  expect(readFiles(person)["memory/tea.md"]).toContain("Pay to\u200b 1234.\n");
  expect((await person.look(`/waiting/${id}`)).status).toBe(404);
});

test("a suggestion is corrected, and only the correction is saved", async () => {
  await using person = await stage.visit();
  const id = await suggest(runtime, person.userId, { body: "Hates tea.\n" });
  const corrector = await person.look(`/correct/${id}`);
  const text =
    formsIn(corrector.body)
      .find(({ action }) => action.includes("/approve/"))
      ?.fields.get("text") ?? "";
  const approved = await person.submit(corrector, `/approve/${id}`, { text: text.replace("Hates", "Loves") });
  expect(wordsIn((await person.follow(approved)).body)).toContain("Approved.");
  expect(readFiles(person)["memory/tea.md"]).toContain("Loves tea.\n");
  expect(JSON.stringify(readFiles(person))).not.toContain("Hates");
});

test("a rejected suggestion is gone, and nothing has changed", async () => {
  await using person = await stage.visit();
  const id = await suggest(runtime, person.userId);
  const rejected = await person.submit(await person.look(`/waiting/${id}`), `/reject/${id}`);
  expect(wordsIn((await person.follow(rejected)).body)).toContain("Rejected. Nothing was changed.");
  expect(stage.files(person.userId)).toEqual({});
  expect((await person.send(`/approve/${id}`)).status).toBe(404);
});

test("a suggestion about what has changed meanwhile is shown again, and not applied", async () => {
  await using person = await stage.visit();
  await remember(runtime, person.userId);
  const id = await suggest(runtime, person.userId, { body: "Pay.\n" });
  const shown = await person.look(`/waiting/${id}`);
  await remember(runtime, person.userId, { body: "Oolong.\n" });
  const again = await person.submit(shown, `/approve/${id}`);
  expect(again.status).toBe(409);
  expect(wordsIn(again.body)).toContain("Nothing was approved: the note has changed meanwhile.");
  expect(readFiles(person)["memory/tea.md"]).toContain("Oolong.");
  // It waits under another id, and the page that shows it has it.
  const approval = formsIn(again.body).find(({ action }) => action.includes("/approve/"));
  const done = await person.submit(again, (approval?.action ?? "").slice(person.base.length));
  expect(wordsIn((await person.follow(done)).body)).toContain("Approved.");
  expect(readFiles(person)["memory/tea.md"]).toContain("Pay.");
});

test("what a run has changed is listed, planned, and taken back", async () => {
  await using person = await stage.visit();
  await remember(runtime, person.userId);
  const origin = { class: "model_inference", run: "run/7 <x>" };
  await remember(runtime, person.userId, { body: "Poison.\n", origin });
  await remember(runtime, person.userId, { name: "other", origin });
  const list = await person.look("/changes");
  expect(wordsIn(list.body)).toContain("Task run/7 <x>");
  expect(wordsIn(list.body)).toContain("2 changes in 2 notes");
  const link = linksIn(list.body).find((each) => /\/undo\/[0-9a-f]{32}$/.test(each)) ?? "";
  const path = link.slice(person.base.length);
  const plan = await person.look(path);
  expect(wordsIn(plan.body)).toMatch(
    /These get their earlier text back tea memory\/tea\.md These go to the trash, because they were not there before. You can put them back other memory\/other\.md/,
  );
  const done = await person.submit(plan, path);
  expect(wordsIn(done.body)).toContain("Undone");
  expect(readFiles(person)["memory/tea.md"]).toContain("Green tea.");
  expect(readFiles(person)["memory/other.md"]).toBeUndefined();
  expect(await wordsAt(person, path)).toContain("There is nothing to undo.");
});

test.for(["hour", "day", "week"])("everything of the last %s is taken back as it was planned", async (span) => {
  await using person = await stage.visit();
  await remember(runtime, person.userId);
  const plan = await person.look(`/undo/${span}`);
  expect(wordsIn(plan.body)).toContain("These go to the trash");
  expect((await person.submit(plan, `/undo/${span}`)).status).toBe(200);
  expect(readFiles(person)["memory/tea.md"]).toBeUndefined();
});

test("a plan that has become old is shown again, and nothing is taken back", async () => {
  await using person = await stage.visit();
  await remember(runtime, person.userId);
  const plan = await person.look("/undo/hour");
  await remember(runtime, person.userId, { name: "later" });
  const old = await person.submit(plan, "/undo/hour");
  expect(old.status).toBe(409);
  expect(wordsIn(old.body)).toContain("Nothing was undone: something has changed meanwhile.");
  expect(wordsIn(old.body)).toContain("memory/later.md");
  expect(readFiles(person)["memory/tea.md"]).toContain("Green tea.");
  expect((await person.submit(old, "/undo/hour")).status).toBe(200);
  expect(readFiles(person)["memory/later.md"]).toBeUndefined();
});

test("a store is shared, reached, left out, taken back, no longer shared, and cleared", async () => {
  await using alice = await stage.visit();
  await using bob = await stage.visit();
  const [store, other] = [storeIdOf(alice.userId), storeIdOf(bob.userId)];
  const granted = await alice.submit(await alice.look("/sharing"), "/grant", {
    who: bob.userId,
    level: "readwrite",
    days: "week",
  });
  const shared = wordsIn((await alice.follow(granted)).body);
  expect(shared).toMatch(new RegExp(`Shared\\..*${other} can search it, read it and write in it Since .*, until `));
  const reached = await bob.look("/sharing");
  expect(wordsIn(reached.body)).toContain(
    `${store} : you can search it, read it and write in it Its owner has shared it with you`,
  );
  const quit = await bob.follow(await bob.submit(reached, `/quit/${store}`));
  expect(wordsIn(quit.body)).toContain("Nobody has shared a notebook with you.");
  const joined = await bob.follow(await bob.submit(quit, "/join", { store }));
  expect(wordsIn(joined.body)).toContain("You see this shared notebook again.");
  const put = { command: "create", path: `/memories/shared/${store}/note.md`, content: "hi" };
  await runtime.call("memory", put, { userId: bob.userId });
  const revoked = await alice.follow(await alice.submit(await alice.look("/sharing"), `/revoke/${other}`));
  expect(wordsIn(revoked.body)).toContain("Who can use your notebook Nobody but you.");
  expect((await runtime.stores({ userId: bob.userId }).list()).map(({ source }) => source)).toEqual(["self"]);
  const cleared = await alice.follow(await alice.submit(revoked, "/clear", { creator: bob.userId }));
  expect(wordsIn(cleared.body)).toContain("What they had written in your shared notebook is in the trash now.");
});

test.for([
  { level: "admin", days: "always" },
  { level: "read", days: "3650000000" },
  { level: "read", days: "soon" },
  { level: "", days: "always" },
])("a form with other words than its choices shares nothing: %o", async (fields) => {
  await using person = await stage.visit();
  expect((await person.send("/grant", { who: "bob", ...fields })).status).toBe(404);
  expect(await runtime.stores({ userId: person.userId }).grants()).toEqual([]);
});

test("the trash is emptied by age and as a whole, as it was when the person looked", async () => {
  await using person = await stage.visit();
  await remember(runtime, person.userId);
  await runtime.call("UpdateUserMemory", { action: "delete", name: "tea" }, { userId: person.userId });
  expect(await wordsAt(person, "/empty/month")).toContain("0 notes");
  const shown = await person.look("/empty/all");
  expect(wordsIn(shown.body)).toContain(
    "This deletes everything in the trash: 1 note, and all their earlier texts. Nobody can bring them back. The notes that you still have stay.",
  );
  await remember(runtime, person.userId, { name: "later" });
  await runtime.call("UpdateUserMemory", { action: "delete", name: "later" }, { userId: person.userId });
  const emptied = await person.follow(await person.submit(shown, "/empty/all"));
  expect(wordsIn(emptied.body)).toContain("Deleted for good.");
  expect((await runtime.upkeep.listTrash({ userId: person.userId })).map(({ path }) => path)).toEqual(["later.md"]);
  for (const since of ["", "9".repeat(20), "1.5", String(Date.now() + 60_000), "NaN"]) {
    expect((await person.send("/empty/all", { since })).status).toBe(since === "" ? 303 : 404);
  }
  expect(await runtime.upkeep.listTrash({ userId: person.userId })).toHaveLength(1);
});

test("a download has the same bytes as an export", async () => {
  await using person = await stage.visit();
  await remember(runtime, person.userId);
  await runtime.call("memory_write", { key: "trip", content: "Vienna", tags: [] }, { userId: person.userId });
  const { status, headers, body } = await person.submit(await person.look("/data"), "/download");
  expect(status).toBe(200);
  expect(headers["content-type"]).toBe("application/zip");
  expect(headers["content-disposition"]).toBe('attachment; filename="memory.zip"');
  const chunks = [];
  for await (const chunk of zipOf(await runtime.upkeep.openExport({ userId: person.userId }))) chunks.push(chunk);
  expect(body).toBe(Buffer.concat(chunks).toString());
});

test("a slow download keeps nobody waiting, and breaks off if it would lack a file of which nobody was told", async () => {
  await using person = await stage.visit();
  const { userId, port, base, key } = person;
  await remember(runtime, userId);
  const trash = join(userFolder(stage.dataDir, userId), "memory/trash");
  mkdirSync(trash, { recursive: true });
  // More than a server and two systems can have on the way.
  for (let each = 10; each < 42; each++) writeFileSync(join(trash, `x${each}.md`), Buffer.alloc(2 ** 21));
  const body = `key=${key}`;
  const headers = { ...person.headers(), "content-length": body.length };
  const asking = request({ host: "127.0.0.1", port, method: "POST", path: `${base}/download`, headers, agent: false });
  const answered = once(asking, "response");
  asking.end(body);
  const [response] = (await answered) as [IncomingMessage];
  expect(response.statusCode).toBe(200);
  await once(response, "readable");
  expect(await remember(runtime, userId, { name: "meanwhile" })).toMatchObject({ ok: true });
  writeFileSync(join(trash, "x41.md"), "by hand");
  await expect(finished(response.resume())).rejects.toMatchObject({ code: "ECONNRESET" });
  expect(response.complete).toBe(false);
});

test("what cannot be in a download is named first", async () => {
  await using person = await stage.visit();
  await remember(runtime, person.userId);
  const folder = join(userFolder(stage.dataDir, person.userId), "memory");
  mkdirSync(join(folder, "sub\\folder"), { recursive: true });
  writeFileSync(join(folder, "sub\\folder", "a.md"), "text");
  const told = await person.submit(await person.look("/data"), "/download");
  expect(wordsIn(told.body)).toContain("These files cannot be in the zip file:");
  const others = await person.submit(told, "/download");
  expect(others.headers["content-type"]).toBe("application/zip");
});

test("problems are named, and mended", async () => {
  await using person = await stage.visit();
  await remember(runtime, person.userId);
  writeFileSync(join(userFolder(stage.dataDir, person.userId), "memory", "MEMORY.md"), "");
  const found = await person.look("/check");
  expect(wordsIn(found.body)).toContain("Mending:");
  const mended = await person.submit(found, "/check");
  expect(wordsIn(mended.body)).toContain("Mended");
  expect(await wordsAt(person, "/check")).toContain("No problem was found.");
});

test("everything is erased by the right name only, and then the page is over", async () => {
  await using person = await stage.visit();
  await remember(runtime, person.userId);
  const shown = await person.look("/erase");
  for (const name of ["", "alice", `${person.userId}x`]) {
    const refused = await person.submit(shown, "/erase", { name });
    expect(refused.status).toBe(422);
    expect(wordsIn(refused.body)).toContain("Nothing was erased: the name that you typed is not yours.");
  }
  expect(readFiles(person)["memory/tea.md"]).toContain("Green tea.");
  const erased = await person.submit(shown, "/erase", { name: ` ${person.userId} ` });
  expect(erased.body).toContain(`content="0;url=${person.base}/left/erased"`);
  expect(wordsIn((await person.look("/left/erased")).body)).toContain("Nothing is kept of you here any more");
  expect(stage.files(person.userId)).toEqual({});
  expect(await person.over).toBe("closed");
  expect((await person.look("")).status).toBe(401);
});

test("what warns of a suggestion warns where it is corrected, too", async () => {
  await using person = await stage.visit();
  const waiting = await suggest(runtime, person.userId, { body: "Pay to AT12\u200b 3456\n" });
  const words = await wordsAt(person, `/correct/${waiting}`);
  for (const each of ["Comes from: not approved: from a web page (shop.example)", "This text has hidden characters."])
    expect(words).toContain(each);
});
