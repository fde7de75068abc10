/** Addresses and bodies that no page of ours leads to: refused on record, with all headers, without a secret in any log. */
import { afterAll, describe, expect, test } from "vitest";

import type { Answer } from "../stage/http-requests.ts";
import { expectClosed } from "./closed-answer.ts";
import { wordsIn } from "./page-forms.ts";
import { openPageStage, remember } from "./page-stage.ts";
import type { Visitor } from "./page-stage.ts";

const stage = await openPageStage();
afterAll(() => stage[Symbol.asyncDispose]());

describe("what is not there", () => {
  const unknown: readonly (readonly [name: string, path: string])[] = [
    ["a name of no screen", "/nothing"],
    ["a name of every object", "/constructor"],
    ["a name of every object's", "/__proto__"],
    ["a screen in capitals", "/Trash"],
    ["a word that no screen asks for", "?x=1"],
    ["an unknown word of a filter", "?from=everybody"],
    ["a filter of another screen", "/trash?from=me"],
    ["a word twice", "?page=1&page=2"],
    ["no number of a page", "?page=0"],
    ["a page in another writing", "?page=%D9%A1"],
    ["an unknown word that was done", "?done=<script>"],
    ["a word of every object that was done", "?done=constructor"],
    ["a word without a value", "?page"],
    ["a search in an address", "/search?words=secret"],
    ["half of an encoding", "/entry/memory/%zz"],
    ["an encoding that is no UTF-8", "/entry/memory/%ff"],
    ["an overlong encoding", "/entry/memory/%c0%ae"],
    ["an empty name", "/entry//tea.md"],
    ["a slash behind two names", "/entry/memory/"],
    ["a fragment", "/trash#x"],
  ];
  test.for(unknown)("is refused on record: %s", async ([, path]) => {
    await using person = await stage.visit();
    const before = stage.refusals.length;
    const answer = await person.look(path);
    expect(answer.status).toBe(404);
    expectClosed(answer);
    expect(stage.refusals.length).toBe(before + 1);
    expect(stage.refusals.at(-1)?.reason).toMatch(/^(?:path|page)-unknown$/);
    // Nothing that was asked for is said again.
    expect(answer.body).not.toMatch(/secret|<script|everybody/);
  });

  test.for([
    ["an entry that is not there", "/entry/memory/none.md"],
    ["a scope that is not there", "/entry/none/tea.md"],
    ["a scope without a file", "/entry/memory"],
    ["steps to a parent", "/entry/memory/%2e%2e/%2e%2e/tea.md"],
    ["a slash in a name", "/entry/memory/..%2f..%2ftea.md"],
    ["NUL in a name", "/entry/memory/tea.md%00"],
    ["a file of the host", "/entry/memory/.memcell"],
    ["a version that is not there", "/version/99/memory/tea.md"],
    ["no version", "/version/-1/memory/tea.md"],
    ["a version in another writing", "/version/1e0/memory/tea.md"],
    ["a suggestion that is not there", "/waiting/none"],
    ["a run that is not there", "/undo/0123456789abcdef0123456789abcdef"],
    ["a span that is not there", "/undo/constructor"],
    ["an age that is not there", "/empty/constructor"],
    ["a family that is not there", "/note/none/tea"],
    ["no text to edit", "/edit/memory/none.md"],
    ["an index to edit", "/edit/memory/MEMORY.md"],
  ])("is no entry either: %s", async ([, path]) => {
    await using person = await stage.visit();
    await remember(stage.runtime, person.userId);
    const answer = await person.look(path ?? "");
    expect([404, 422]).toContain(answer.status);
    expectClosed(answer);
    expect(answer.body).not.toContain("Green tea");
  });

  test("is the same for a stranger, who gets in nowhere", async () => {
    await using person = await stage.visit();
    const answers = await Promise.all(
      ["", "/waiting", "/entry/memory/tea.md", "/data", "/erase"].map((path) =>
        person.ask({ path: `${person.base}${path}` }),
      ),
    );
    expect(new Set(answers.map(({ status, body }) => `${status} ${body}`)).size).toBe(1);
    expect(answers[0]?.status).toBe(401);
    expect(answers[0]?.body).not.toContain(person.userId);
    for (const answer of answers) expectClosed(answer);
  });
});

const post = (person: Visitor, body: string | Buffer, headers = {}): Promise<Answer> =>
  person.ask({ method: "POST", path: `${person.base}/add`, headers: person.headers(headers), body });

describe("a body", () => {
  test.for<readonly [name: string, body: string | Buffer, headers?: Readonly<Record<string, string>>]>([
    ["a field twice", "text=a&text=b"],
    ["the key twice", "key=KEY&text=a"],
    ["half of an encoding", "text=%zz"],
    ["an encoding that is no UTF-8", "text=%ff"],
    ["an overlong encoding", "text=%c0%af"],
    ["an encoded half of a character", "text=%ed%a0%80"],
    ["bytes that were not encoded", Buffer.from("text=é")],
    ["a line end that was not encoded", "text=a\nb"],
    ["two values", "text=a=b"],
    ["JSON", '{"text":"a"}', { "content-type": "application/json" }],
    ["plain text, as forms of other pages can send it", "text=a", { "content-type": "text/plain" }],
    ["parts", "text=a", { "content-type": "multipart/form-data; boundary=x" }],
    ["another character set", "text=a", { "content-type": "application/x-www-form-urlencoded; charset=utf-16" }],
    ["an encoding of its content", "text=a", { "content-encoding": "gzip" }],
  ])("with %s is no form", async ([, body, headers]) => {
    await using person = await stage.visit();
    const start = Buffer.from(`key=${person.key}&`);
    const all = typeof body === "string" ? body.replace("KEY", person.key) : body;
    const answer = await post(person, Buffer.concat([start, Buffer.from(all)]), headers);
    expect(answer.status).toBe(400);
    expectClosed(answer);
    expect(stage.refusals.at(-1)?.reason).toBe("page-body");
    expect(stage.files(person.userId)).toEqual({});
  });

  test("over the limit is refused, before and behind the door", async () => {
    await using person = await stage.visit({ bodyBytesMax: 100_000 });
    const long = `key=${person.key}&text=${"a".repeat(100_000)}`;
    for (const headers of [{}, { cookie: undefined }]) {
      const answer = await post(person, long, headers);
      expect(answer.status).toBe(413);
      expectClosed(answer);
      expect(stage.refusals.at(-1)?.reason).toBe("body-too-large");
    }
    // A stranger may send what a long entry takes, and no more.
    const stranger = await post(person, `text=${"a".repeat(70_000)}`, { cookie: undefined });
    expect(stranger.status).toBe(413);
    expect((await post(person, `key=${person.key}&text=${"a".repeat(70_000)}`)).status).not.toBe(413);
  });

  test("with NUL keeps it from every screen but as what it is", async () => {
    await using person = await stage.visit();
    const answer = await post(person, `key=${person.key}&text=a%00b`);
    expect([303, 422]).toContain(answer.status);
    if (answer.status === 303) expect(wordsIn((await person.follow(answer)).body)).toContain("aU+0000b");
  });
});

test("too many requests are refused as a page, also to the person", async () => {
  await using person = await stage.visit({ requestsPerMinute: 2 });
  await person.look("");
  const answer = await person.look("");
  expect(answer.status).toBe(429);
  expect(Number(answer.headers["retry-after"])).toBeGreaterThan(0);
  expectClosed(answer);
});

test("a failure of the host says nothing of it, with all headers", async () => {
  await using closed = await openPageStage();
  await using person = await closed.visit();
  await closed.runtime.close();
  const answer = await person.look("");
  expect([500, 503]).toContain(answer.status);
  expectClosed(answer);
  expect(answer.body).not.toMatch(/host\/|node_modules|Error:/);
});

test("no secret is in a log, an audit record or an answer that is not for it", async () => {
  await using served = await stage.serve();
  const [token = ""] = served.link.split("/").slice(-1);
  await using person = await served.enter();
  const session = person.cookie.split("=")[1] ?? "";
  const answers = [
    await served.ask({ path: served.link }),
    await person.look("/entry/memory/none.md"),
    await person.send("/add", { text: "mine" }),
    await person.send("/add", { text: "mine" }, { origin: "null" }),
    await person.send("/add", { key: "wrong" }),
    await person.send("/erase", { name: "wrong" }),
    await served.ask({ path: `${served.base}?${session}` }),
  ];
  const logs = JSON.stringify([stage.log, stage.records(), stage.refusals]);
  for (const secret of [token, session, person.key, person.base.split("/").at(-1) ?? ""]) {
    expect(secret.length).toBeGreaterThan(20);
    expect(logs).not.toContain(secret);
  }
  for (const { body } of answers) expect(body).not.toMatch(new RegExp(`${token}|${session}`));
  // What a person does is on record as theirs, from the page.
  expect(stage.records(person.userId).length).toBeGreaterThan(0);
});
