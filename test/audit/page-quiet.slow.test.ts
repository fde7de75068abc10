/** The page is inert, whatever data it shows. */
import { randomBytes } from "node:crypto";

import { expect, test } from "vitest";

import { htmlPage } from "../../host/report/page/html-page.ts";
import { openPage, useBrowser } from "./browser-page.ts";
import { hostileLog, hostileNarrowing, hostileReport, payloads } from "./hostile-samples.ts";
import { brokenLog, busyLog } from "./log-samples.ts";
import { failingReport, passingReport, unreadableReport } from "./report-samples.ts";

const browserFor = useBrowser();

/** What no report may bring into a page. */
const strangers = `({
  ran: "ran" in window,
  elements: [...new Set(Array.from(document.querySelectorAll("script, img, iframe, object, embed, base, form:not(.filter), [action], [target], [formaction], input, textarea, link, audio, video, template, noscript"), (each) => each.localName))],
  handlers: Array.from(document.querySelectorAll("*")).flatMap((each) => each.getAttributeNames()).filter((name) => name.startsWith("on") || name === "style" || name === "src"),
  links: Array.from(document.querySelectorAll("[href]"), (each) => each.getAttribute("href")).filter((href) => !/^#[a-z0-9-]+$/.test(href)),
  styles: document.querySelectorAll("style").length,
  titles: document.querySelectorAll("h1").length,
  twice: Array.from(document.querySelectorAll("[id]"), (each) => each.id).filter((id, at, all) => all.indexOf(id) !== at),
})`;
const nothing = { ran: false, elements: [], handlers: [], links: [], styles: 1, titles: 1, twice: [] };

const pages = [
  { name: "a plugin that passes", html: htmlPage([passingReport()], null) },
  { name: "two plugins and 10,000 calls", html: htmlPage([failingReport(), passingReport()], busyLog()) },
  { name: "a file that is no plugin", html: htmlPage([unreadableReport()], brokenLog()) },
  { name: "hostile names of what a policy takes away", html: htmlPage([hostileNarrowing()], null) },
  { name: "hostile names everywhere", html: htmlPage([hostileReport(), hostileReport()], hostileLog()) },
] as const;

test.for(pages)(
  "a page of $name causes no messages or requests and contains nothing foreign",
  async ({ html }, context) => {
    const browser = browserFor(context);
    await using opened = await openPage(browser, html);
    expect(await opened.page.evaluate(strangers)).toEqual(nothing);
    expect(opened.noises).toEqual([]);
  },
);

test.for(pages)("a page of $name looks the same without scripts", async ({ html }, context) => {
  const browser = browserFor(context);
  const looks: Buffer[] = [];
  for (const isScripted of [true, false]) {
    await using opened = await openPage(browser, html, { isScripted });
    looks.push(Buffer.from(await opened.page.screenshot()));
  }
  expect(looks[0]?.equals(looks[1] ?? Buffer.of())).toBe(true);
});

test("shows every hostile text as text", async (context) => {
  const browser = browserFor(context);
  await using opened = await openPage(browser, htmlPage([hostileReport()], hostileLog()));
  const shown = (await opened.page.evaluate(`document.body.textContent`)) as string;
  const short = payloads.filter((payload) => payload.length < 1_000 && /^[\x20-\x7e]*$/.test(payload));
  expect(short.length).toBeGreaterThan(10);
  expect(short.filter((payload) => !shown.includes(payload))).toEqual([]);
  expect(shown.replaceAll("\n", "")).not.toMatch(/[\p{Cc}\p{Bidi_Control}]/u);
});

test("no hostile text reverses the text next to it", async (context) => {
  const browser = browserFor(context);
  const report = passingReport();
  const hebrew = { ...report, policy: { ...report.policy, name: "\u05d0\u05d1\u05d2" } };
  await using opened = await openPage(browser, htmlPage([hebrew], null));
  const order = `(() => {
    const range = document.createRange();
    const paragraph = document.querySelector(".verdict p:last-child");
    const name = paragraph.querySelector("bdi");
    const after = paragraph.querySelector("code").nextSibling;
    range.selectNode(after);
    const box = range.getClientRects()[0];
    return { isIsolated: getComputedStyle(name).unicodeBidi, isBehind: box.left >= name.getClientRects()[0].right - 1 || box.top > name.getClientRects()[0].top };
  })()`;
  expect(await opened.page.evaluate(order)).toEqual({ isIsolated: "isolate", isBehind: true });
});

const guarded = [
  { name: "a plugin", made: htmlPage([passingReport()], null) },
  { name: "a log, which has style rules of its own", made: htmlPage([passingReport()], hostileLog()) },
];

test.for(guarded)("the policy of a page of $name stops what gets past the escaping", async ({ made }, context) => {
  const browser = browserFor(context);
  const marker = randomBytes(4).toString("hex");
  const intruder = `<main><script>window.ran = 1</script><img src="http://127.0.0.1:9/${marker}" onerror="window.ran = 1">
    <style>h1 { display: none }</style><link rel="stylesheet" href="http://127.0.0.1:9/${marker}.css">
    <iframe srcdoc="<script>parent.ran = 1</script>"></iframe><p style="display: none" id="intruder">here</p>
    <form action="http://127.0.0.1:9/${marker}"><button id="send">Send</button></form>`;
  const page = made.replace("<main>", intruder);
  await using closed = await openPage(browser, page);
  const state = `({ ran: "ran" in window, h1: getComputedStyle(document.querySelector("h1")).display, p: getComputedStyle(document.querySelector("#intruder")).display })`;
  expect(await closed.page.evaluate(state)).toEqual({ ran: false, h1: "block", p: "block" });
  const sending = new Promise<string>((resolve) => closed.page.once("console", (message) => resolve(message.text())));
  await closed.page.click("#send");
  expect(await sending).toContain("form-action 'none'");
  expect(closed.noises.filter((noise) => /violates|Refused|blocked/i.test(noise)).length).toBeGreaterThan(3);

  // The same page without its policy shows that the policy made the difference.
  await using open = await openPage(browser, page.replace(/<meta\s+http-equiv="Content-Security-Policy"[^>]*>/, ""));
  expect(await open.page.evaluate(state)).toEqual({ ran: true, h1: "none", p: "none" });
  expect(open.noises.some((noise) => noise.includes(marker))).toBe(true);
});
