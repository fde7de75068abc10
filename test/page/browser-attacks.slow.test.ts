/** Attacks that a browser decides: forms and frames of other pages, cookies, the way back, and texts that want to run. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";

import type { HTTPRequest, Page } from "puppeteer-core";
import { afterAll, expect, test } from "vitest";

import { payloads } from "../audit/hostile-texts.ts";
import { everyScreen, fillMemory, textsOf } from "./full-memory.ts";
import { enterIn, leadingOn, useBrowser, wordsOn } from "./page-browser.ts";
import { openPageStage, remember, suggest } from "./page-stage.ts";
import type { ServedPage, Visitor } from "./page-stage.ts";

const openTab = useBrowser();
const stage = await openPageStage();
afterAll(() => stage[Symbol.asyncDispose]());

/** Another program's server on the same machine. */
async function otherPort(
  page: string,
): Promise<AsyncDisposable & { readonly origin: string; readonly asked: IncomingMessage[] }> {
  const asked: IncomingMessage[] = [];
  const server = createServer((req, res) => {
    asked.push(req);
    res.setHeader("Content-Type", "text/html");
    res.end(page);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

/** A form that sends itself. It knows everything: the address, and even the key. */
const sendsItself = (url: string, key: string, target = "_self"): string =>
  `<form method="post" action="${url}/add" target="${target}"><input name="key" value="${key}"><textarea name="text">theirs</textarea></form><script>document.forms[0].submit()</script>`;

/** The key that the forms of this session have, as no other page can read it. */
const keyOn = async (page: Page): Promise<string> =>
  (await page.evaluate(`document.querySelector("[name=key]").value`)) as string;

test.for<readonly [name: string, pageFor: (url: string, key: string) => string, reason: string]>([
  ["a page", (url, key) => sendsItself(url, key), "page-origin"],
  [
    "a frame",
    (url, key) => `<iframe srcdoc='${sendsItself(url, key).replaceAll("'", "&#39;")}'></iframe>`,
    "page-origin",
  ],
  [
    "a frame in a sandbox, which has no origin",
    (url, key) => `<iframe sandbox="allow-forms allow-scripts" srcdoc='${sendsItself(url, key)}'></iframe>`,
    "page-origin",
  ],
  [
    "a script",
    (url, key) =>
      `<script>fetch("${url}/add", { method: "POST", mode: "no-cors", credentials: "include", headers: { "Content-Type": "application/x-www-form-urlencoded" }, body: "key=${key}&text=theirs" })</script>`,
    "page-origin",
  ],
])("%s of another port that knows the address and the key sends nothing", async ([, pageFor, reason], context) => {
  await using served = await stage.serve();
  await using opened = await openTab(context);
  await enterIn(opened.page, served);
  const url = `${served.origin}${served.base}`;
  const key = await keyOn(opened.page);
  await using other = await otherPort(pageFor(url, key));
  const before = stage.refusals.length;
  // The answer is kept from a script of another origin, which is a failure for the browser.
  const answered = new Promise<void>((resolve) => {
    const isIt = (request: HTTPRequest): void => void (request.url() === `${url}/add` && resolve());
    opened.page.on("requestfinished", isIt).on("requestfailed", isIt);
  });
  await opened.page.goto(other.origin, { waitUntil: "domcontentloaded" }).catch(() => null);
  await answered;
  expect(stage.refusals.slice(before).map((refusal) => refusal.reason)).toEqual([reason]);
  expect(stage.files(served.userId)).toEqual({});
  // The session was there all the time.
  await opened.page.goto(url);
  expect(await wordsOn(opened.page)).toContain(`What AI assistants remember of ${served.userId}`);
});

test("another port gets the cookie neither at its start nor at any path that it can guess", async (context) => {
  await using served = await stage.serve();
  await using other = await otherPort("<h1>Other</h1>");
  await using opened = await openTab(context);
  await enterIn(opened.page, served);
  for (const path of ["/", "/m", "/m/", "/memory", `/m/${"0".repeat(32)}`, served.base.slice(0, -1), `${served.base}0`])
    await opened.page.goto(`${other.origin}${path}`);
  expect(other.asked.length).toBeGreaterThan(6);
  expect(other.asked.filter(({ headers }) => headers.cookie !== undefined)).toEqual([]);
  // That it depends on the path is seen where the other port knows it.
  await opened.page.goto(`${other.origin}${served.base}`);
  expect(other.asked.find(({ url }) => url === served.base)?.headers.cookie).toMatch(/^memcell=/);
});

test("no script of any page reads the cookie", async (context) => {
  await using served = await stage.serve();
  await using opened = await openTab(context);
  await enterIn(opened.page, served);
  expect(await opened.page.evaluate("document.cookie")).toBe("");
});

test("another page cannot frame a screen", async (context) => {
  await using served = await stage.serve();
  await using other = await otherPort(`<iframe src="${served.origin}${served.base}"></iframe>`);
  await using opened = await openTab(context);
  await enterIn(opened.page, served);
  await opened.page.goto(other.origin, { waitUntil: "load" });
  const frame = opened.page.frames().find((each) => each !== opened.page.mainFrame());
  expect(frame?.url()).toBe("chrome-error://chromewebdata/");
});

test("the way back after closing shows nothing", async (context) => {
  await using served = await stage.serve();
  await remember(stage.runtime, served.userId);
  await using opened = await openTab(context, [served.origin]);
  const { page } = opened;
  await enterIn(page, served);
  await page.goto(`${served.origin}${served.base}/entry/memory/tea.md`);
  expect(await wordsOn(page)).toContain("Green tea.");
  await leadingOn(page, () => page.click("nav button"));
  await page.waitForFunction(`location.pathname.endsWith("/left") && document.querySelector("h1")`);
  expect(await wordsOn(page)).toContain("To open the page again");
  const answered = page.waitForResponse((response) => response.url().endsWith("/tea.md"));
  await page.goBack();
  expect((await answered).status()).toBe(401);
  await page.waitForSelector("main h1");
  expect(await wordsOn(page)).not.toMatch(/Green tea|Memory of/);
});

/** What no text may bring into a page. */
const strangers = `({
  ran: "ran" in window,
  elements: [...new Set(Array.from(document.querySelectorAll("script, img, svg, iframe, object, embed, base, link, audio, video, template, noscript, meta[http-equiv]"), (each) => each.localName))],
  handlers: Array.from(document.querySelectorAll("*")).flatMap((each) => each.getAttributeNames()).filter((name) => name.startsWith("on") || ["style", "src", "target", "formaction"].includes(name)),
  links: Array.from(document.links, (each) => each.href).filter((href) => !href.startsWith(location.origin + "/m/")),
  forms: Array.from(document.forms, (each) => each.action).filter((action) => !action.startsWith(location.origin + "/m/")),
  styles: document.querySelectorAll("style").length,
  titles: document.querySelectorAll("h1").length,
  twice: Array.from(document.querySelectorAll("[id]"), (each) => each.id).filter((id, at, all) => all.indexOf(id) !== at),
})`;
const nothing = { ran: false, elements: [], handlers: [], links: [], forms: [], styles: 1, titles: 1, twice: [] };

async function hostile(texts: readonly string[]): Promise<Visitor> {
  const userId = `${stage.user()}"'><svg onload='window.ran=1'>`;
  const person = await stage.visit({ userId });
  await fillMemory(stage, userId, textsOf(texts.filter((text) => text.length < 2_000)));
  await suggest(stage.runtime, userId, { name: "last" });
  return person;
}

/** The same session in a browser: the link is used up by then. */
async function withSession(page: Page, { origin, base, cookie }: Visitor): Promise<void> {
  const [name = "", value = ""] = cookie.split("=");
  const place = { url: `${origin}${base}`, path: base, domain: "127.0.0.1" };
  await page.browserContext().setCookie({ name, value, ...place, httpOnly: true, secure: false });
}

test("nothing that anybody can write runs, loads or becomes a part of a screen", async (context) => {
  await using person = await hostile(payloads);
  const paths = [...(await everyScreen(person)).keys()];
  await using opened = await openTab(context, [person.origin]);
  const { page } = opened;
  await withSession(page, person);
  for (const path of paths) {
    await page.goto(`${person.origin}${path}`);
    expect([path, await page.evaluate(strangers)]).toEqual([path, nothing]);
  }
  // Screens that only a form shows.
  await page.goto(`${person.origin}${person.base}`);
  for (const words of payloads.slice(0, 12)) {
    await page.evaluate(`document.querySelector("#words").value = ${JSON.stringify(words)}`);
    await leadingOn(page, () => page.click(".find button"));
    expect([words, await page.evaluate(strangers)]).toEqual([words, nothing]);
  }
  expect(paths.length).toBeGreaterThan(40);
  expect(opened.noises).toEqual([]);
});

const unescaped = (html: string): string =>
  html
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&quot;", '"')
    .replaceAll("&#39;", "'")
    .replaceAll(/<\/?bdi>|<wbr>/g, "");

test("without the escaping, the policy alone still stops it; without both, everything runs", async (context) => {
  // No policy stops a page from leading on: only the escaping does.
  await using person = await hostile(payloads.filter((text) => !text.includes("refresh")));
  const paths = [...(await everyScreen(person, 2)).keys()];
  for (const hasPolicy of [true, false]) {
    await using opened = await openTab(context);
    const { page } = opened;
    await page.setRequestInterception(true);
    const sent: string[] = [];
    page.on("request", (request) => {
      const { pathname, origin, search } = new URL(request.url());
      if (origin !== person.origin) return void request.abort();
      sent.push(request.method());
      void person
        .ask({ path: `${pathname}${search}`, headers: { cookie: person.cookie } })
        .then(({ status, headers, body }) => {
          const { "content-security-policy": policy = "" } = headers;
          const kept = {
            "Content-Type": "text/html; charset=utf-8",
            ...(hasPolicy && { "Content-Security-Policy": String(policy) }),
          };
          return request.respond({ status, headers: kept, body: unescaped(body) });
        });
    });
    let ran = 0;
    for (const path of paths) {
      await page.goto(`${person.origin}${path}`, { waitUntil: "load" });
      if ((await page.evaluate(`"ran" in window`)) === true) ran++;
    }
    if (hasPolicy) expect(ran).toBe(0);
    else expect(ran).toBeGreaterThan(5);
    expect(new Set(sent)).toEqual(new Set(["GET"]));
  }
});

test("the page that a person types into sends exactly what is in it", async (context) => {
  await using served: ServedPage = await stage.serve();
  await remember(stage.runtime, served.userId, { body: "\n\n\ufeffa\u2028b\t</textarea>&amp;\n\n" });
  const before = stage.files(served.userId);
  await using opened = await openTab(context, [served.origin]);
  const { page } = opened;
  await enterIn(page, served);
  await page.goto(`${served.origin}${served.base}/edit/memory/tea.md`);
  await leadingOn(page, () => page.click("button.main"));
  expect(page.url()).toContain("done=same");
  expect(stage.files(served.userId)).toEqual(before);
  expect(opened.noises).toEqual([]);
});
