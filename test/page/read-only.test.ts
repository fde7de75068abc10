/** A person who may only look sees every screen, and can search, download and leave. Nothing else is offered, and nothing is done. */
import { afterAll, expect, test } from "vitest";

import { expectClosed } from "./closed-answer.ts";
import { everyScreen } from "./full-memory.ts";
import { formsIn, wordsIn } from "./page-forms.ts";
import { openPageStage, remember, suggest } from "./page-stage.ts";

const stage = await openPageStage();
afterAll(() => stage[Symbol.asyncDispose]());
const { runtime } = stage;

test("every screen is there, with no form but search, filter, download and leaving", async () => {
  await using person = await stage.visit({ runtime: runtime.asReadOnly() });
  const ctx = { userId: person.userId };
  await remember(runtime, person.userId, { origin: { class: "model_inference", run: "run-1" } });
  await remember(runtime, person.userId, { name: "gone" });
  await runtime.call("UpdateUserMemory", { action: "delete", name: "gone" }, ctx);
  for (const key of ["trip", "food"]) await runtime.call("memory_write", { key, content: "Vienna", tags: [] }, ctx);
  await runtime.stores(ctx).grant("bob");
  await suggest(runtime, person.userId, { name: "offer" });
  const pages = await everyScreen(person);
  const screens = new Set([...pages.keys()].map((path) => path.slice(person.base.length).split(/[/?]/)[1] ?? ""));
  const names = ["", "changes", "check", "data", "entry", "note", "sharing", "trash", "version", "waiting"];
  expect([...screens].toSorted()).toEqual(names);
  const actions = new Set(
    [...pages.values()].flatMap((page) => formsIn(page).map(({ action }) => action.slice(person.base.length))),
  );
  expect([...actions].toSorted()).toEqual(["", "/download", "/leave", "/search"]);
  for (const page of pages.values()) {
    expect(wordsIn(page)).toContain("You may only look here.");
    expect(wordsIn(page)).not.toMatch(
      /Edit|Yes, it is right|Approve(?!d)|Reject|Put back|Stop sharing|Erase|Mend what/,
    );
  }
});

test("search, download and leaving work", async () => {
  await using person = await stage.visit({ runtime: runtime.asReadOnly() });
  await remember(runtime, person.userId);
  expect(wordsIn((await person.submit(await person.look(""), "/search", { words: "green" })).body)).toContain("1 note");
  const { headers } = await person.submit(await person.look("/data"), "/download");
  expect(headers["content-type"]).toBe("application/zip");
  expect((await person.submit(await person.look(""), "/leave")).status).toBe(200);
  expect(await person.over).toBe("closed");
});

test.for([
  ["/add", { text: "mine" }],
  ["/edit/memory/tea.md", { text: "mine" }],
  ["/confirm/memory/tea.md", {}],
  ["/forget/memory/tea.md", {}],
  ["/version/1/memory/tea.md", {}],
  ["/approve/ID", {}],
  ["/reject/ID", {}],
  ["/undo/hour", {}],
  ["/grant", { who: "bob", level: "read", days: "always" }],
  ["/revoke/bob", {}],
  ["/clear", { creator: "bob" }],
  ["/quit/0182ba10-9272-8f5e-b52f-73809b6d8f24", {}],
  ["/join", { store: "0182ba10-9272-8f5e-b52f-73809b6d8f24" }],
  ["/restore/memory/tea.md", {}],
  ["/empty/all", { since: "1" }],
  ["/check", {}],
  ["/erase", { name: "USER" }],
] as const)("a form to %s is refused on record, and changes nothing", async ([path, fields]) => {
  // The way to change something is there; the person is not allowed to take it.
  const toChange = async () => ({ runtime, [Symbol.asyncDispose]: async () => {} });
  await using person = await stage.visit({ runtime: runtime.asReadOnly(), toChange });
  await remember(runtime, person.userId);
  const id = await suggest(runtime, person.userId, { name: "offer" });
  const before = stage.files(person.userId);
  const name = { ...("name" in fields && { name: person.userId }) };
  const answer = await person.send(path.replace("ID", id), { ...fields, ...name });
  expect(answer.status).toBe(403);
  expectClosed(answer);
  expect(stage.refusals.at(-1)?.reason).toBe("page-rights");
  expect(stage.files(person.userId)).toEqual(before);
  expect(await runtime.upkeep.pending({ userId: person.userId })).toHaveLength(1);
  expect(await runtime.stores({ userId: person.userId }).grants()).toEqual([]);
  // What was typed is not lost, either.
  if ("text" in fields) expect(wordsIn(answer.body)).toContain("mine");
});
