/** The list and its entries: found, added, read, edited, confirmed, forgotten, put back. */
import { afterAll, expect, test } from "vitest";

import { formsIn, linksIn, wordsIn } from "./page-forms.ts";
import { openPageStage, remember } from "./page-stage.ts";
import type { Visitor } from "./page-stage.ts";

const stage = await openPageStage();
afterAll(() => stage[Symbol.asyncDispose]());
const { runtime } = stage;

const entryAt = "/entry/memory/tea.md";
const wordsAt = async (person: Visitor, path: string): Promise<string> => wordsIn((await person.look(path)).body);
const readFiles = ({ userId }: Visitor): Record<string, string> => stage.files(userId);

/** Replaces a word by the editor to which the screen of an entry leads. */
async function editOn(person: Visitor, shown: { readonly body: string }, old: string, now: string): Promise<void> {
  const editAt = linksIn(shown.body).find((link) => link.includes("/edit/")) ?? "";
  const editor = await person.look(editAt.slice(person.base.length));
  const before = formsIn(editor.body).find(({ action }) => action === editAt);
  const text = before?.fields.get("text")?.replace(old, now) ?? "";
  await person.submit(editor, editAt.slice(person.base.length), { text });
}

/** The names of the entries on a list, in order. */
function namesOn(page: string): string[] {
  const [, list = ""] = /<ul class="list">([^]*?)<\/ul>/.exec(page) ?? [];
  return Array.from(list.matchAll(/<li>\s*<a href="[^"]*">(?:<bdi>)?([^<]*)/g), ([, name = ""]) => name);
}

test("the list has entries of every family, the latest first, each with where it comes from", async () => {
  await using person = await stage.visit();
  const ctx = { userId: person.userId, origin: { class: "model_inference" } } as const;
  await remember(runtime, person.userId, { origin: { class: "direct_user" } });
  await remember(runtime, person.userId, { name: "guess", origin: { class: "model_inference" } });
  await runtime.call("memory_write", { key: "trip", content: "Vienna", tags: [] }, ctx);
  await runtime.call("memory", { command: "create", path: "/memories/kept.md", content: "c" }, ctx);
  const { body } = await person.look("");
  expect(namesOn(body)).toEqual(["kept", "trip", "guess", "tea"]);
  const words = wordsIn(body);
  for (const each of [
    "4 notes",
    "Likes tea",
    "told by you",
    "worked out by an assistant",
    "journal",
    "in the notebook that you can share",
  ])
    expect(words).toContain(each);
  for (const link of linksIn(body).filter((each) => /\/(?:entry|note)\//.test(each)))
    expect((await person.ask({ path: link, headers: { cookie: person.cookie } })).status).toBe(200);
});

test("filters take entries by writer, time and family, and keep what was chosen", async () => {
  await using person = await stage.visit();
  await remember(runtime, person.userId, { origin: { class: "direct_user" } });
  await remember(runtime, person.userId, { name: "guess", origin: { class: "model_inference" } });
  const origin = { class: "direct_user" } as const;
  await runtime.call("memory_write", { key: "trip", content: "Vienna", tags: [] }, { userId: person.userId, origin });
  const shown = async (query: string): Promise<string[]> => namesOn((await person.look(`?${query}`)).body).toSorted();
  expect(await shown("from=me")).toEqual(["tea", "trip"]);
  expect(await shown("from=agents")).toEqual(["guess"]);
  expect(await shown("from=outside")).toEqual([]);
  expect(await shown("from=&written=&keeper=")).toEqual(["guess", "tea", "trip"]);
  expect(await shown("written=day&keeper=journal")).toEqual(["trip"]);
  const { body } = await person.look("?from=me&written=week");
  expect(body).toMatch(/value="me" selected/);
  expect(body).toMatch(/value="week" selected/);
  expect(wordsIn(body)).toContain("2 notes of 3");
  expect(await wordsAt(person, "?from=outside")).toContain("No note is like that.");
});

test("a long list has parts, and a filter stays on the way through them", async () => {
  await using person = await stage.visit();
  for (let at = 0; at < 51; at++) await remember(runtime, person.userId, { name: `entry-${at}` });
  const first = await person.look("?written=day");
  expect(namesOn(first.body)).toHaveLength(50);
  expect(wordsIn(first.body)).toContain("1 to 50 of 51");
  const next = linksIn(first.body).find((link) => link.includes("page=2"));
  expect(next).toBe(`${person.base}?written=day&page=2`);
  const second = await person.look("?written=day&page=2");
  expect(wordsIn(second.body)).toContain("51 to 51 of 51");
  expect(namesOn(second.body)).toHaveLength(1);
  // A list can have become shorter since.
  expect(wordsIn((await person.look("?page=99999")).body)).toContain("51 to 51 of 51");
});

test("search finds words, with the place around them, and says when nothing is found", async () => {
  await using person = await stage.visit();
  await remember(runtime, person.userId, { body: "Long before breakfast: sencha, always.\n" });
  const found = await person.submit(await person.look(""), "/search", { words: "sencha" });
  expect(found.status).toBe(200);
  expect(namesOn(found.body)).toEqual(["tea"]);
  expect(wordsIn(found.body)).toContain("1 note with sencha");
  // The words stay in the field, and are in no address.
  expect(
    formsIn(found.body)
      .find(({ action }) => action.endsWith("/search"))
      ?.fields.get("words"),
  ).toBe("sencha");
  expect(linksIn(found.body).join(" ")).not.toContain("sencha");
  const none = await person.submit(found, "/search", { words: '<b>"x' });
  expect(wordsIn(none.body)).toContain('0 notes with <b>"x Nothing was found.');
  expect(wordsIn((await person.submit(found, "/search", { words: " " })).body)).toContain("with no words");
});

test("a person adds an entry, and it counts as theirs", async () => {
  await using person = await stage.visit();
  const added = await person.submit(await person.look(""), "/add", { text: "Call me Al.\r\nAlways.\r\n" });
  const words = wordsIn((await person.follow(added)).body);
  for (const each of ["Added.", "Call me Al.", "by you"]) expect(words).toContain(each);
  expect(Object.values(readFiles(person)).join("")).toContain("Call me Al.\nAlways.");
});

test("an entry is shown whole, edited, and its version before is in the history", async () => {
  await using person = await stage.visit();
  await remember(runtime, person.userId, { origin: { class: "model_inference", run: "run-1" } });
  const shown = await person.look(entryAt);
  expect(wordsIn(shown.body)).toContain("Comes from worked out by an assistant");
  expect(wordsIn(shown.body)).toContain("Task of an assistant run-1 See what it has changed");
  const editor = await person.look("/edit/memory/tea.md");
  const before =
    formsIn(editor.body)
      .find(({ action }) => action.includes("/edit/"))
      ?.fields.get("text") ?? "";
  const saved = await person.submit(editor, "/edit/memory/tea.md", { text: before.replace("Green", "Black") });
  expect(wordsIn((await person.follow(saved)).body)).toContain("Saved. The text before is below.");
  expect(readFiles(person)["memory/tea.md"]).toContain("Black tea.\n");
  expect(await wordsAt(person, entryAt)).toContain("Comes from by you");
});

test("a text that was not changed is not saved", async () => {
  await using person = await stage.visit();
  await remember(runtime, person.userId);
  const before = stage.files(person.userId);
  const saved = await person.submit(await person.look("/edit/memory/tea.md"), "/edit/memory/tea.md");
  expect(wordsIn((await person.follow(saved)).body)).toContain("Nothing was changed: the text is the same as before.");
  expect(stage.files(person.userId)).toEqual(before);
});

test("a person confirms what an agent has written, and it counts as theirs", async () => {
  await using person = await stage.visit();
  await remember(runtime, person.userId, { origin: { class: "model_inference" } });
  const confirmed = await person.submit(await person.look(entryAt), "/confirm/memory/tea.md");
  const page = await person.follow(confirmed);
  expect(wordsIn(page.body)).toContain("Confirmed. It counts as your own words now.");
  expect(formsIn(page.body).some(({ action }) => action.includes("/confirm/"))).toBe(false);
});

test("what has changed since it was shown is neither confirmed nor forgotten", async () => {
  await using person = await stage.visit();
  await remember(runtime, person.userId, { origin: { class: "model_inference" } });
  const shown = await person.look(entryAt);
  await remember(runtime, person.userId, { body: "Oolong.\n", origin: { class: "model_inference" } });
  for (const path of ["/confirm/memory/tea.md", "/forget/memory/tea.md"]) {
    expect((await person.submit(shown, path)).status).toBe(409);
    // Without its hash, a form says nothing about what was seen.
    expect((await person.send(path)).status).toBeGreaterThanOrEqual(400);
  }
  expect(readFiles(person)["memory/tea.md"]).toContain("Oolong");
  expect(await wordsAt(person, entryAt)).toContain("worked out by an assistant");
});

test("a forgotten entry is in the trash, and is put back", async () => {
  await using person = await stage.visit();
  await remember(runtime, person.userId);
  const gone = await person.follow(await person.submit(await person.look(entryAt), "/forget/memory/tea.md"));
  expect(wordsIn(gone.body)).toContain("Moved to the trash. Assistants no longer see it.");
  expect((await person.look(entryAt)).status).toBe(404);
  const { action } = formsIn(gone.body).find((form) => form.action.includes("/restore/")) ?? { action: "" };
  const back = await person.follow(await person.submit(gone, action.slice(person.base.length)));
  expect(wordsIn(back.body)).toContain("Put back.");
  expect(wordsIn(back.body)).toContain("Green tea.");
});

test("a version shows what it has changed, and is put back", async () => {
  await using person = await stage.visit();
  await remember(runtime, person.userId);
  await remember(runtime, person.userId, { body: "Black tea.\n" });
  const entry = await person.look(entryAt);
  const versions = linksIn(entry.body).filter((link) => link.includes("/version/"));
  expect(versions).toHaveLength(2);
  const [second = "", first = ""] = versions.map((link) => link.slice(person.base.length));
  const difference = await person.look(second);
  expect(difference.body).toMatch(/<ins>[^]*Black tea\.[^]*<\/ins>/);
  expect(difference.body).toMatch(/<del>[^]*Green tea\.[^]*<\/del>/);
  const back = await person.submit(await person.look(first), first);
  expect(wordsIn((await person.follow(back)).body)).toContain("Put back.");
  expect(readFiles(person)["memory/tea.md"]).toContain("Green tea.");
});

test("notes that share a file are shown one by one, without a writer, and changed and deleted with it", async () => {
  await using person = await stage.visit();
  const classes = { food: "direct_user", trip: "model_inference" } as const;
  for (const [key, content] of Object.entries({ food: "No nuts", trip: "Vienna in May" })) {
    const origin = { class: classes[key as keyof typeof classes], run: `run-of-${key}` };
    await runtime.call("memory_write", { key, content, tags: [] }, { userId: person.userId, origin });
  }
  const list = await wordsAt(person, "");
  expect(list).toContain("food No nuts In a file with others, last changed");
  const trip = await person.look("/note/journal:trip");
  expect(wordsIn(trip.body)).toMatch(/Last change of its file .*, worked out by an assistant/);
  expect(wordsIn(trip.body)).toContain("Vienna in May");
  expect(wordsIn(trip.body)).not.toMatch(/No nuts|Task of an assistant/);
  const file = linksIn(trip.body).find((link) => link.includes("/entry/")) ?? "";
  const shown = await person.look(file.slice(person.base.length));
  const told = "This is a whole file, with at least: trip, food. What you change, confirm or delete here is all of it.";
  for (const each of [told, "Vienna in May", "No nuts", "Delete the whole file"])
    expect(wordsIn(shown.body)).toContain(each);
  await editOn(person, shown, "Vienna", "Graz");
  expect(await wordsAt(person, "/note/journal:trip")).toContain("Graz in May");
  expect(await wordsAt(person, "/note/journal:food")).toContain("No nuts");
  expect((await person.look("/note/journal:none")).status).toBe(404);
});

test.for(["..", ".", "a/../b", "a/b", "50% <b>"])("a note called %j is shown", async (key) => {
  await using person = await stage.visit();
  for (const each of [key, "other"])
    await runtime.call("memory_write", { key: each, content: `Of ${each}`, tags: [] }, { userId: person.userId });
  const link = linksIn((await person.look("")).body).find(
    (each) => each.includes("/note/journal") && !each.endsWith("other"),
  );
  expect(await wordsAt(person, (link ?? "").slice(person.base.length))).toContain(`Of ${key}`);
});

test("a note with a file of its own in a shared notebook is edited and deleted", async () => {
  await using person = await stage.visit();
  const created = { command: "create", path: "/memories/kept.md", content: "Mind the step" };
  await runtime.call("memory", created, { userId: person.userId });
  const list = await person.look("");
  expect(wordsIn(list.body)).toContain("in the notebook that you can share");
  const file = linksIn(list.body).find((link) => link.includes("/entry/store/")) ?? "";
  const shown = await person.look(file.slice(person.base.length));
  expect(wordsIn(shown.body)).toContain("This is a whole file, with at least: kept.");
  await editOn(person, shown, "step", "gap");
  expect(await wordsAt(person, file.slice(person.base.length))).toContain("Mind the gap");
  const forgetAt = file.replace(`${person.base}/entry`, "/forget");
  const gone = await person.submit(await person.look(file.slice(person.base.length)), forgetAt);
  expect(wordsIn((await person.follow(gone)).body)).toContain("Moved to the trash.");
  expect((await person.look(file.slice(person.base.length))).status).toBe(404);
});
