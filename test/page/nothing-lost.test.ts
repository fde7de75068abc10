/** What a person has typed is saved as it was shown, or shown again; and a text that a browser would change cannot be edited. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import fc from "fast-check";
import { ToolError } from "memcell";
import { afterAll, describe, expect, test } from "vitest";

import type { Answer } from "../stage/http-requests.ts";
import { runs } from "../stage/random-runs.ts";
import { entryText } from "../support/memory-files.ts";
import { userFolder } from "../support/user-files.ts";
import { formsIn, textsIn, wordsIn } from "./page-forms.ts";
import { openPageStage, remember, suggest } from "./page-stage.ts";
import type { Visitor } from "./page-stage.ts";

const stage = await openPageStage();
afterAll(() => stage[Symbol.asyncDispose]());
const { runtime } = stage;

const editAt = "/edit/memory/tea.md";
/** A long text with everything that markup, a form or a file could change. */
const typed = '\n\n  <b>"Mine"</b> &amp; \u00fc\u{1f375}\n</textarea>\n\ttab\u2028\n\n';
const sent = typed.replaceAll("\n", "\r\n");

/** The text in the only text area of a page, as its form would send it. */
const textIn = ({ body }: Answer): string | undefined => textsIn(body).map(([, text]) => text)[0];

describe("what was typed is shown again", () => {
  test("if the entry has changed meanwhile, beside the text that it has now", async () => {
    await using person = await stage.visit();
    await remember(runtime, person.userId);
    const editor = await person.look(editAt);
    await remember(runtime, person.userId, { body: "Oolong.\n" });
    const refused = await person.submit(editor, editAt, { text: sent });
    expect(refused.status).toBe(409);
    expect(textIn(refused)).toBe(sent);
    expect(wordsIn(refused.body)).toMatch(
      /Nothing was saved: the note has changed since you began\..*As it is now .*Oolong\./,
    );
    expect(stage.files(person.userId)["memory/tea.md"]).toContain("Oolong.");
    // The second time, the person has seen both.
    const saved = await person.submit(refused, editAt, { text: entryText("tea", "Both.\n") });
    expect(saved.status).toBe(303);
  });

  test("if its plugin cannot read it so", async () => {
    await using person = await stage.visit();
    await remember(runtime, person.userId);
    const before = stage.files(person.userId);
    const refused = await person.submit(await person.look(editAt), editAt, {
      text: `---\r\nname: [\r\n---\r\n${sent}`,
    });
    expect(refused.status).toBe(422);
    expect(textIn(refused)).toBe(`---\r\nname: [\r\n---\r\n${sent}`);
    expect(wordsIn(refused.body)).toContain("Nothing was saved.");
    expect(stage.files(person.userId)).toEqual(before);
  });

  test("if the entry is gone", async () => {
    await using person = await stage.visit();
    await remember(runtime, person.userId);
    const editor = await person.look(editAt);
    await runtime.call("UpdateUserMemory", { action: "delete", name: "tea" }, { userId: person.userId });
    const refused = await person.submit(editor, editAt, { text: sent });
    expect(refused.status).toBe(404);
    expect(textIn(refused)).toBe(sent);
  });

  test("if nothing can be added so", async () => {
    await using person = await stage.visit();
    const long = `${sent}${"x".repeat(70_000)}`;
    const refused = await person.submit(await person.look(""), "/add", { text: long });
    expect(refused.status).toBe(422);
    expect(textIn(refused)).toBe(long);
  });

  test("if a suggestion cannot be corrected so, or is gone", async () => {
    await using person = await stage.visit();
    const id = await suggest(runtime, person.userId);
    const corrector = await person.look(`/correct/${id}`);
    const unfit = `---\r\nname: [\r\n---\r\n${sent}`;
    const refused = await person.submit(corrector, `/approve/${id}`, { text: unfit });
    expect(refused.status).toBe(422);
    expect(textIn(refused)).toBe(unfit);
    expect((await runtime.upkeep.pending({ userId: person.userId })).map((write) => write.id)).toEqual([id]);
    await runtime.upkeep.reject({ userId: person.userId }, id);
    const late = await person.submit(corrector, `/approve/${id}`, { text: sent });
    expect(late.status).toBe(404);
    expect(textIn(late)).toBe(sent);
  });

  test.for<readonly [name: string, change: (person: Visitor) => Readonly<Record<string, string>>, status: number]>([
    ["if the session is over", () => ({}), 401],
    ["if the form is of an earlier session", () => ({ key: "x" }), 403],
  ])("%s", async ([, change, status]) => {
    await using person = await stage.visit();
    if (status === 401) await person.send("/leave");
    const refused = await person.send("/add", { text: sent, ...change(person) });
    expect(refused.status).toBe(status);
    expect(textIn(refused)).toBe(sent);
    expect(wordsIn(refused.body)).toContain("Your text was not saved. Copy it, and begin again.");
    // It cannot be sent from there: the page belongs to nobody.
    expect(formsIn(refused.body)).toEqual([]);
  });

  test("if a text cannot be saved because another program writes the log", async () => {
    const problem = new ToolError("BUSY", "Cannot open the log: another program writes it");
    await using person = await stage.visit({ toChange: () => Promise.reject(problem) });
    const refused = await person.send("/add", { text: sent });
    expect(refused.status).toBe(503);
    expect(textIn(refused)).toBe(sent);
    expect(wordsIn(refused.body)).toContain("another program writes it");
  });
});

const pieces = [
  "a",
  "b c",
  "\n",
  "\n",
  "\r\n",
  "\r",
  "\0",
  "\ufeff",
  "\u2028",
  "\u0085",
  "</textarea>",
  "<!--",
  "&amp;",
  "&#10;",
  "&",
  "<",
  '"',
  "\t",
  " ",
  "\u00a0",
  "\u00fc",
  "\u{1f375}",
  "\u200d",
  "\u202e",
  "\u0001",
  "\v",
  "\f",
  "\ufffe",
  "\ufffd",
];
const anyText = fc.array(fc.constantFrom(...pieces), { maxLength: 12 }).map((parts) => parts.join(""));
/** Of one kind of line end. */
const evenText = fc
  .tuple(anyText, fc.constantFrom("\n", "\r\n"))
  .map(([text, end]) => text.replaceAll(/[\r\0]/g, "").replaceAll("\n", end));
const someText = fc.oneof(anyText, evenText);

/** What a tool takes: nothing that its reader could not see. */
const saidText = someText.map((text) => text.replaceAll(/(?![\t\r\n])[\p{C}\p{Zl}]/gu, ""));

const isExact = (text: string): boolean =>
  !/\0|\r(?!\n)/.test(text) && !(text.includes("\r\n") && /(?<!\r)\n/.test(text));

async function withFile(person: Visitor, text: string): Promise<string> {
  const folder = join(userFolder(stage.dataDir, person.userId), "memory");
  mkdirSync(folder, { recursive: true });
  const file = join(folder, "tea.md");
  writeFileSync(file, text);
  return file;
}

test("what is saved is what was shown, if nothing was typed; else it cannot be edited", async () => {
  await using person = await stage.visit();
  await remember(runtime, person.userId);
  await fc.assert(
    fc.asyncProperty(someText, async (text) => {
      const file = await withFile(person, text);
      const editor = await person.look(editAt);
      expect(editor.status).toBe(isExact(text) ? 200 : 404);
      if (editor.status === 404) {
        const { body } = await person.look("/entry/memory/tea.md");
        expect(wordsIn(body)).toMatch(/You cannot edit it here: .*\. Edit the file in another program\./);
      } else {
        expect(textIn(editor)).toBe(text.replaceAll(/\r?\n/g, "\r\n"));
        const saved = await person.submit(editor, editAt);
        expect(saved.headers.location).toContain("done=same");
      }
      expect(readFileSync(file, "utf8")).toBe(text);
    }),
    runs(150),
  );
});

test("what is saved is what was shown and what was typed, with the line ends of the file", async () => {
  await using person = await stage.visit();
  await remember(runtime, person.userId);
  await fc.assert(
    fc.asyncProperty(evenText, evenText, async (before, more) => {
      const end = before.includes("\r\n") ? "\r\n" : "\n";
      const text = entryText("tea", before).replaceAll(/\r?\n/g, end);
      const file = await withFile(person, text);
      const editor = await person.look(editAt);
      const shown = textIn(editor) ?? "";
      const saved = await person.submit(editor, editAt, { text: `${shown}x${more.replaceAll(/\r?\n/g, "\r\n")}` });
      expect([saved.status, wordsIn(saved.body)]).toEqual([303, ""]);
      expect(readFileSync(file, "utf8")).toBe(`${text}x${more.replaceAll(/\r?\n/g, end)}`);
    }),
    runs(60),
  );
});

test("a correction in which nothing was typed approves the text that was shown", async () => {
  await using person = await stage.visit();
  await fc.assert(
    fc.asyncProperty(saidText, async (body) => {
      const id = await suggest(runtime, person.userId, { body: `${body}.` });
      const [write] = await runtime.upkeep.pending({ userId: person.userId });
      const text = write?.files.find(({ path }) => path === "tea.md")?.text ?? "";
      const corrector = await person.look(`/correct/${id}`);
      expect(corrector.status).toBe(isExact(text) ? 200 : 404);
      const path = corrector.status === 200 ? "approve" : "reject";
      const from = corrector.status === 200 ? corrector : await person.look(`/waiting/${id}`);
      const done = await person.submit(from, `/${path}/${id}`);
      expect([done.status, wordsIn(done.body)]).toEqual([303, ""]);
      if (path === "approve") expect(stage.files(person.userId)["memory/tea.md"]).toBe(text);
      await runtime.call("UpdateUserMemory", { action: "delete", name: "tea" }, { userId: person.userId });
    }),
    runs(60),
  );
});

test("bytes that are no text are named, and cannot be edited", async () => {
  await using person = await stage.visit();
  await remember(runtime, person.userId);
  writeFileSync(join(userFolder(stage.dataDir, person.userId), "memory", "tea.md"), Buffer.from([0xff, 0xfe, 0x00]));
  const { body } = await person.look("/entry/memory/tea.md");
  expect(wordsIn(body)).toContain("This file is not text.");
  expect(wordsIn(body)).toContain("You cannot edit it here: it is not text.");
  expect((await person.look(editAt)).status).toBe(404);
});
