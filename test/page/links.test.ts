/** The one way in, and the way out: a link that works once, a cookie that only this page gets, and no other name of the server. */
import { afterAll, describe, expect, test } from "vitest";

import type { Asked } from "../stage/http-requests.ts";
import { expectClosed } from "./closed-answer.ts";
import { openPageStage } from "./page-stage.ts";

const stage = await openPageStage();
afterAll(() => stage[Symbol.asyncDispose]());

describe("the link", () => {
  test("brings in once, with a cookie that only this page gets", async () => {
    await using served = await stage.serve();
    const opened = await served.ask({ path: served.link });
    expect(opened.status).toBe(200);
    expectClosed(opened);
    expect(opened.headers["set-cookie"]).toEqual([
      expect.stringMatching(new RegExp(`^memcell=[\\w-]{43}; Path=${served.base}; HttpOnly; SameSite=Strict$`)),
    ]);
    expect(served.base).toMatch(/^\/m\/[0-9a-f]{32}$/);
    expect(served.link.slice(served.base.length)).toMatch(/^\/open\/[\w-]{43}$/);
    // The page that follows is at an address without the link's secret.
    expect(opened.body).toContain(`content="0;url=${served.base}"`);
    const again = await served.ask({ path: served.link });
    expect(again.status).toBe(403);
    expect(again.headers["set-cookie"]).toBeUndefined();
    expectClosed(again);
    expect(stage.refusals.at(-1)?.reason).toBe("page-link");
  });

  test("is refused to whoever comes second, also with the cookie", async () => {
    await using served = await stage.serve();
    await using person = await served.enter();
    const again = await served.ask({ path: served.link, headers: { cookie: person.cookie } });
    expect(again.status).toBe(403);
    expect((await person.look("")).status).toBe(200);
  });

  test("ends after its time, and with it the page", async () => {
    await using served = await stage.serve({ linkMs: 1 });
    expect(await served.over).toBe("not opened");
    const answer = await served.ask({ path: served.link });
    expect(answer.status).toBe(403);
    expect(answer.headers["set-cookie"]).toBeUndefined();
  });

  test("ends only if nobody has followed it", async () => {
    await using served = await stage.serve({ linkMs: 60_000, idleMs: 1 });
    await served.ask({ path: served.link });
    expect(await served.over).toBe("not used");
  });

  test.for<readonly [name: string, change: (link: string) => string, asked?: Asked]>([
    ["with a query", (link) => `${link}?x`],
    ["with a slash", (link) => `${link}/`],
    ["with another name behind it", (link) => `${link}/x`],
    ["without its last letter", (link) => link.slice(0, -1)],
    ["without its secret", (link) => link.slice(0, link.lastIndexOf("/"))],
    ["with an empty secret", (link) => link.slice(0, link.lastIndexOf("/") + 1)],
    ["in capitals", (link) => link.toUpperCase()],
    ["with two slashes", (link) => `/${link}`],
    ["as HEAD", (link) => link, { method: "HEAD" }],
    ["as PUT", (link) => link, { method: "PUT" }],
    ["as POST", (link) => link, { method: "POST" }],
    ["as OPTIONS", (link) => link, { method: "OPTIONS" }],
    ["without the random part of its path", (link) => link.replace(/^\/m\/[0-9a-f]+/, "")],
    ["with another random part", (link) => link.replace(/[0-9a-f]{32}/, "0".repeat(32))],
  ])("%s brings nobody in, and is as good as before", async ([, change, asked]) => {
    await using served = await stage.serve();
    const before = stage.refusals.length;
    const answer = await served.ask({ path: change(served.link), ...asked });
    expect([403, 404, 405]).toContain(answer.status);
    expect(answer.headers["set-cookie"]).toBeUndefined();
    expect(answer.headers["cache-control"]).toBe("no-store");
    expect(stage.refusals.length).toBeGreaterThan(before);
    await using person = await served.enter();
    expect((await person.look("")).status).toBe(200);
  });
});

test("without the random part of its path, nothing says that there is a page", async () => {
  await using person = await stage.visit();
  for (const path of [
    "/",
    "/m",
    "/m/",
    "/memory",
    `/m/${"0".repeat(32)}`,
    person.base.slice(0, -1),
    `${person.base}0`,
  ]) {
    const answer = await person.ask({ path, headers: { cookie: person.cookie } });
    expect([path, answer.status]).toEqual([path, 404]);
    expect(answer.body).not.toContain(person.userId);
    expect(answer.headers).toMatchObject({ "cache-control": "no-store", "x-content-type-options": "nosniff" });
  }
});

test("the page is over although the browser does not ask for the next one", async () => {
  await using person = await stage.visit();
  await person.submit(await person.look(""), "/leave");
  expect(await person.over).toBe("closed");
});

test("who has closed the page is out, and the browser is told to forget it", async () => {
  await using person = await stage.visit();
  const closed = await person.submit(await person.look(""), "/leave");
  expect(closed.status).toBe(200);
  expectClosed(closed);
  expect(closed.headers["set-cookie"]).toEqual([`memcell=; Path=${person.base}; HttpOnly; SameSite=Strict; Max-Age=0`]);
  expect(closed.body).toContain(`content="0;url=${person.base}/left"`);
  const left = await person.look("/left");
  expectClosed(left);
  expect(left.headers["clear-site-data"]).toBe('"cache"');
  expect(await person.over).toBe("closed");
  expect((await person.look("")).status).toBe(401);
  expect((await person.send("/add", { text: "late" })).status).toBe(401);
});

const otherHosts = [
  "attacker.example",
  "attacker.example:PORT",
  "127.0.0.1.attacker.example",
  "127.0.0.1@attacker.example",
  "127.0.0.2:PORT",
  "0.0.0.0:PORT",
  "2130706433",
  "",
];

test.for(otherHosts)("a page whose name leads here sees nothing: Host %s", async (host) => {
  await using served = await stage.serve();
  const headers = { host: host.replace("PORT", String(served.port)) };
  const answer = await served.ask({ path: served.link, headers });
  expect(answer.status).toBe(403);
  expect(answer.headers["set-cookie"]).toBeUndefined();
  expectClosed(answer);
  expect(stage.refusals.at(-1)?.reason).toBe("host-unknown");
  // The link is as good as before.
  await using person = await served.enter();
  const more = { ...headers, cookie: person.cookie };
  expect((await served.ask({ path: served.base, headers: more })).status).toBe(403);
  expect((await person.send("/add", { text: "x" }, { host: headers.host })).status).toBe(403);
  expect(stage.files(person.userId)).toEqual({});
});
