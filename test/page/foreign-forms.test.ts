/** A form counts only if our own page has sent it, for this person, in this session. */
import { afterAll, describe, expect, test } from "vitest";

import { expectClosed } from "./closed-answer.ts";
import { formsIn, textsIn } from "./page-forms.ts";
import { openPageStage, remember, suggest } from "./page-stage.ts";
import type { PageStage, Visitor } from "./page-stage.ts";

const stage = await openPageStage();
afterAll(() => stage[Symbol.asyncDispose]());

/** A person with an entry, a suggestion and a grant, all of which a form could change. */
async function owner(of: PageStage): Promise<Visitor & { readonly waiting: string }> {
  const person = await of.visit();
  await remember(of.runtime, person.userId);
  const waiting = await suggest(of.runtime, person.userId, { name: "offer" });
  return { ...person, waiting };
}

/** What a form could have changed. */
const stateOf = async ({ userId }: Visitor) => ({
  files: stage.files(userId),
  waiting: (await stage.runtime.upkeep.pending({ userId })).map(({ id }) => id),
  grants: await stage.runtime.stores({ userId }).grants(),
});

/** Every form that changes something, with what it would send. */
const changing = (waiting: string): readonly (readonly [path: string, fields: Readonly<Record<string, string>>])[] => [
  ["/add", { text: "mine" }],
  ["/edit/memory/tea.md", { text: "mine", sha: "0".repeat(64) }],
  ["/confirm/memory/tea.md", { sha: "0".repeat(64) }],
  ["/forget/memory/tea.md", { sha: "0".repeat(64) }],
  ["/version/1/memory/tea.md", {}],
  [`/approve/${waiting}`, {}],
  [`/approve/${waiting}`, { text: "mine" }],
  [`/reject/${waiting}`, {}],
  ["/undo/hour", { plan: "0".repeat(64), since: "0" }],
  ["/grant", { who: "bob", level: "readwrite", days: "always" }],
  ["/revoke/bob", {}],
  ["/clear", { creator: "bob" }],
  ["/quit/0182ba10-9272-8f5e-b52f-73809b6d8f24", {}],
  ["/join", { store: "0182ba10-9272-8f5e-b52f-73809b6d8f24" }],
  ["/restore/memory/tea.md", {}],
  ["/empty/all", { since: "1" }],
  ["/check", {}],
  ["/erase", { name: "USER" }],
];

const port = (url: string, to: number): string => url.replace(/:\d+$/, `:${to}`);

/** How a form of another page differs. `null` for the key: it is not sent. */
const foreign: readonly {
  readonly name: string;
  readonly headers?: (person: Visitor) => Readonly<Record<string, string | undefined>>;
  readonly key?: (other: Visitor) => string | null;
  readonly reason: string;
  readonly status: number;
}[] = [
  { name: "without an origin", headers: () => ({ origin: undefined }), reason: "page-origin", status: 403 },
  { name: "of no origin", headers: () => ({ origin: "null" }), reason: "page-origin", status: 403 },
  { name: "of an empty origin", headers: () => ({ origin: "" }), reason: "page-origin", status: 403 },
  {
    name: "of another port",
    headers: ({ origin }) => ({ origin: port(origin, 1) }),
    reason: "page-origin",
    status: 403,
  },
  { name: "of no port", headers: () => ({ origin: "http://127.0.0.1" }), reason: "page-origin", status: 403 },
  {
    name: "of another scheme",
    headers: ({ origin }) => ({ origin: origin.replace("http:", "https:") }),
    reason: "page-origin",
    status: 403,
  },
  {
    name: "of another name of the machine",
    headers: ({ origin }) => ({ origin: origin.replace("127.0.0.1", "localhost") }),
    reason: "page-origin",
    status: 403,
  },
  {
    name: "of another site",
    headers: () => ({ origin: "https://attacker.example" }),
    reason: "page-origin",
    status: 403,
  },
  {
    name: "of an origin with a slash",
    headers: ({ origin }) => ({ origin: `${origin}/` }),
    reason: "page-origin",
    status: 403,
  },
  {
    name: "that a browser calls cross-site",
    headers: () => ({ "sec-fetch-site": "cross-site" }),
    reason: "page-origin",
    status: 403,
  },
  {
    name: "that a browser calls same-site",
    headers: () => ({ "sec-fetch-site": "same-site" }),
    reason: "page-origin",
    status: 403,
  },
  {
    name: "that nobody has sent by a page",
    headers: () => ({ "sec-fetch-site": "none" }),
    reason: "page-origin",
    status: 403,
  },
  { name: "without a cookie", headers: () => ({ cookie: undefined }), reason: "page-session", status: 401 },
  {
    name: "with a bearer token for it",
    headers: ({ cookie }) => ({ cookie: undefined, authorization: `Bearer ${cookie.split("=")[1]}` }),
    reason: "page-session",
    status: 401,
  },
  {
    name: "with a cookie of another name",
    headers: ({ cookie }) => ({ cookie: `x${cookie}` }),
    reason: "page-session",
    status: 401,
  },
  {
    name: "with two cookies of the name",
    headers: ({ cookie }) => ({ cookie: `${cookie}; ${cookie}` }),
    reason: "page-session",
    status: 401,
  },
  {
    name: "with a cookie that is set before",
    headers: ({ cookie }) => ({ cookie: `memcell=1; ${cookie}` }),
    reason: "page-session",
    status: 401,
  },
  {
    name: "with a longer cookie",
    headers: ({ cookie }) => ({ cookie: `${cookie}A` }),
    reason: "page-session",
    status: 401,
  },
  { name: "without a key", key: () => null, reason: "page-form", status: 403 },
  { name: "with an empty key", key: () => "", reason: "page-form", status: 403 },
  { name: "with the key of another session", key: ({ key }) => key, reason: "page-form", status: 403 },
];

describe("a form", () => {
  test.for(foreign)("$name changes nothing, at no address", async ({ headers = () => ({}), key, reason, status }) => {
    await using person = await owner(stage);
    await using other = await stage.visit();
    const before = await stateOf(person);
    for (const [path, fields] of changing(person.waiting)) {
      const sent = key?.(other);
      const all = { ...fields, ...(fields["name"] && { name: person.userId }) };
      const withKey = sent === undefined ? { key: person.key } : sent === null ? {} : { key: sent };
      const answer = await person.ask({
        method: "POST",
        path: `${person.base}${path}`,
        headers: person.headers(headers(person)),
        body: new URLSearchParams({ ...withKey, ...all }).toString(),
      });
      expect([path, answer.status]).toEqual([path, status]);
      expectClosed(answer);
      expect(stage.refusals.at(-1)).toMatchObject({ surface: "http", reason, peer: "127.0.0.1" });
    }
    expect(await stateOf(person)).toEqual(before);
  });

  test("of our own page does, by the same requests", async () => {
    await using person = await owner(stage);
    const before = await stateOf(person);
    const answers = [];
    for (const [path, fields] of changing(person.waiting)) answers.push((await person.send(path, fields)).status);
    expect(answers.filter((status) => [200, 303].includes(status)).length).toBeGreaterThan(5);
    expect(await stateOf(person)).not.toEqual(before);
  });

  test("counts without Sec-Fetch-Site, which old browsers do not send", async () => {
    await using person = await stage.visit();
    expect((await person.send("/add", { text: "mine" }, { "sec-fetch-site": undefined })).status).toBe(303);
  });

  test.for([
    ["an own screen that has none", "/changes"],
    ["no screen", "/nothing"],
    ["the start", ""],
    ["the link", "/open/x"],
  ])("to %s is answered as what is not there", async ([, path]) => {
    await using person = await stage.visit();
    expect((await person.send(path ?? "")).status).toBe(404);
  });
});

test("a bearer token is nobody here, whoever it is for", async () => {
  await using person = await stage.visit();
  for (const token of [person.key, person.cookie.split("=")[1] ?? "", "x.y.z"]) {
    const headers = { authorization: `Bearer ${token}` };
    const answer = await person.ask({ path: person.base, headers });
    expect(answer.status).toBe(401);
    expectClosed(answer);
  }
  // Beside a cookie, it counts for nothing, either way.
  const headers = { cookie: person.cookie, authorization: "Bearer x.y.z" };
  expect((await person.ask({ path: person.base, headers })).status).toBe(200);
});

test("each form has the key, and none leads or is sent elsewhere", async () => {
  await using person = await owner(stage);
  const paths = [
    "",
    "/waiting",
    `/waiting/${person.waiting}`,
    `/correct/${person.waiting}`,
    "/entry/memory/tea.md",
    "/edit/memory/tea.md",
    "/changes",
    "/undo/hour",
    "/sharing",
    "/trash",
    "/data",
    "/check",
    "/erase",
  ];
  for (const path of paths) {
    const { status, body } = await person.look(path);
    expect([path, status]).toEqual([path, 200]);
    expectClosed(await person.look(path));
    for (const form of formsIn(body)) {
      expect(form.action.startsWith(`${person.base}/`) || form.action === person.base).toBe(true);
      expect(form.fields.get("key")).toBe(form.method === "post" ? person.key : undefined);
    }
    expect(body).not.toMatch(
      /<(?:script|img|iframe|object|embed|base|link|audio|video)\b|\s(?:on\w+|style|src|target|formaction)=/,
    );
    expect(textsIn(body).length).toBeLessThan(3);
  }
});
