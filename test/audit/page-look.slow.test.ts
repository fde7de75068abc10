/** The pages in Chromium: they run and load nothing, fit every window, are accessible, and their list of calls is filtered. */
import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";

import axe from "axe-core";
import type { AxeResults } from "axe-core";
import type { Page, SerializedAXNode } from "puppeteer-core";
import { expect, test } from "vitest";

import type { CallEntry } from "../stage/audit-log.ts";
import { runCommand } from "../support/run-command.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { callEntry } from "./audited.ts";
import { measureLayout, openPage, useBrowser } from "./browser-page.ts";
import { hostilePage, pageWith } from "./hostile-texts.ts";
import { busyPage, calls, failingPage, pageOf, pages, users } from "./sample-pages.ts";

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

test.for(pages)("a page of $name runs and loads nothing, and fits every window", async ({ name, html }, context) => {
  await using opened = await openPage(browserFor(context), html);
  expect(await opened.page.evaluate(strangers)).toEqual(nothing);
  for (const width of [320, 390, 768, 1280]) {
    await opened.page.setViewport({ width, height: 900 });
    const { words, smallestPx, broken, cut, ...faults } = await measureLayout(opened.page);
    expect({ width, ...faults }).toEqual({ width, overflow: 0, beyond: [], covered: [] });
    // Texts of 1,000 of the widest letters in every column, which no log has, make a table wider than its section.
    if (name !== "hostile texts") expect(cut).toEqual([]);
    // The widest letters of all, in a word without an end, do not fit the narrowest column.
    expect(broken.filter((word) => !/^(?:W\u0300?)+ in /.test(word)).slice(0, 5)).toEqual([]);
    expect(words).toBeGreaterThan(100);
    expect(smallestPx).toBeGreaterThanOrEqual(10);
  }
  expect(opened.noises).toEqual([]);
});

test.for([
  { name: "a plugin", made: pageWith("") },
  { name: "a log, which has style rules of its own", made: hostilePage() },
])("the policy of a page of $name stops what gets past the escaping", async ({ made }, context) => {
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

test("no hostile text reverses the text next to it", async (context) => {
  await using opened = await openPage(browserFor(context), pageWith("\u05d0\u05d1\u05d2"));
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

test.for([
  { name: "a log", html: busyPage, width: 1280, scheme: "light" as const },
  { name: "a log", html: busyPage, width: 390, scheme: "dark" as const },
  { name: "plugins that fail", html: failingPage, width: 1280, scheme: "dark" as const },
  { name: "plugins that fail", html: failingPage, width: 390, scheme: "light" as const },
])("axe finds nothing in a page of $name, $width wide, $scheme", async ({ html, width, scheme }, context) => {
  await using opened = await openPage(browserFor(context), html, { width, scheme });
  await opened.page.evaluate(axe.source);
  // Its rules include a contrast of 4.5 for every text.
  const found = (await opened.page.evaluate(`axe.run()`)) as AxeResults;
  expect(found.violations.map(({ id, help, nodes }) => [id, help, nodes[0]?.html.slice(0, 200)])).toEqual([]);
  expect(found.passes.map(({ id }) => id)).toContain("color-contrast");
  const background = await opened.page.evaluate(`getComputedStyle(document.body).backgroundColor`);
  expect(background).toBe(scheme === "light" ? "rgb(255, 255, 255)" : "rgb(18, 22, 27)");
});

const flattened = (node: SerializedAXNode | null): SerializedAXNode[] =>
  node === null ? [] : [node, ...(node.children ?? []).flatMap((child) => flattened(child))];

/** The nodes that a screen reader gets, and the text of each node of a role. */
async function spoken(page: Page, role: string): Promise<{ nodes: SerializedAXNode[]; texts: string[] }> {
  const nodes = flattened(await page.accessibility.snapshot({ interestingOnly: false }));
  const texts = nodes
    .filter((node) => node.role === role)
    .map((node) => flattened(node).flatMap((each) => (each.role === "StaticText" ? [(each.name ?? "").trim()] : [])));
  return { nodes, texts: texts.map((parts) => parts.filter(Boolean).join(" ").replaceAll(/\s+/g, " ")) };
}

test("a screen reader gets every heading, table and mark, and the same rows on a phone", async (context) => {
  const browser = browserFor(context);
  await using wide = await openPage(browser, failingPage);
  const { nodes, texts } = await spoken(wide.page, "row");
  const named = (role: string): string[] => nodes.filter((node) => node.role === role).map((node) => node.name ?? "");
  const headings = ["memcell audit", "Verdict", "Identity", "Capabilities", "Limits", "Verification", "Calls"];
  expect(named("heading")).toEqual(expect.arrayContaining(headings));
  expect(named("table")).toContain("What each tool asks for, and what the policy allows it");
  expect(named("image")).toEqual(["Calls", "Failed calls", "Denials", "Refused requests"]);
  expect(named("form")).toEqual(["Which calls to show"]);
  expect(named("combobox")).toEqual(["User", "Tool", "Outcome"]);
  const marks = "ReadUserMemory asked for and allowed neither asked for, not allowed neither neither ";
  expect(texts.some((row) => row.startsWith(marks))).toBe(true);
  expect(texts.length).toBeGreaterThan(50);
  await using narrow = await openPage(browser, failingPage, { width: 390 });
  // The record's number has its label in front, because nothing else in the block tells what it is.
  const labelled = (await spoken(narrow.page, "row")).texts;
  expect(labelled.map((row) => row.replace(/^Record (?=[\d,]+ \d{4}-)/, ""))).toEqual(texts);
});

/** The record numbers of the rows that a reader sees. */
const shownRecords = async (page: Page): Promise<number[]> =>
  (await page.evaluate(
    `Array.from(document.querySelectorAll(".calls tbody tr")).filter((row) => row.checkVisibility()).map((row) => Number(row.cells[0].textContent.replaceAll(",", "")))`,
  )) as number[];

/** Chooses like a keyboard user: the arrow keys go through the options. */
async function choose(page: Page, select: string, label: string): Promise<void> {
  await page.focus(select);
  const chosen = `document.querySelector("${select}").selectedOptions[0].textContent.trim()`;
  for (let presses = 0; (await page.evaluate(chosen)) !== label; presses++) {
    if (presses === 100) throw new Error(`There is no choice ${label}`);
    await page.keyboard.press("ArrowDown");
  }
}

const everyCall = calls.map((_, at) => at);
const noTool = "no valid tool name";
const [, hostileUser = ""] = users;
test.for<readonly [chosen: Record<string, string>, isMet: (call: CallEntry) => boolean, width: number]>([
  [{ ".by-user": "山田" }, ({ userId }) => userId === "山田", 320],
  [{ ".by-user": hostileUser }, ({ userId }) => userId === hostileUser, 768],
  [{ ".by-outcome": "Succeeded" }, ({ code }) => code === null, 1280],
  [{ ".by-outcome": "Denied a capability" }, ({ usesDenied }) => usesDenied > 0, 1280],
  [{ ".by-outcome": "INPUT_INVALID" }, ({ code }) => code === "INPUT_INVALID", 390],
  [{ ".by-user": "alice", ".by-outcome": "Failed" }, ({ userId, code }) => userId === "alice" && code !== null, 1280],
  [
    { ".by-tool": noTool, ".by-outcome": "Changed something" },
    ({ tool, writes }) => tool === null && writes.length > 0,
    1280,
  ],
])("the keyboard chooses %o without scripts, and the page says how many it shows", async (row, context) => {
  const [chosen, isMet, width] = row;
  await using opened = await openPage(browserFor(context), busyPage, { isScripted: false, width });
  expect(await shownRecords(opened.page)).toEqual(everyCall);
  for (const [select, label] of Object.entries(chosen)) await choose(opened.page, select, label);
  const records = everyCall.filter((at) => calls[at] !== undefined && isMet(calls[at]));
  expect(await shownRecords(opened.page)).toEqual(records);
  expect((await spoken(opened.page, "status")).texts).toEqual([`${records.length} of 120 calls shown`]);
  // The next stop after the last choice takes all of them back.
  await opened.page.focus(".by-outcome");
  await opened.page.keyboard.press("Tab");
  await opened.page.keyboard.press("Enter");
  expect(await shownRecords(opened.page)).toEqual(everyCall);
});

test("the one failed call among 5,000 can be chosen", async (context) => {
  const failed = 500;
  const many = Array.from({ length: 5_000 }, (_, at) => callEntry(at, at === failed ? { code: "INTERNAL" } : {}));
  await using opened = await openPage(browserFor(context), await pageOf(["user-memory"], many));
  await choose(opened.page, ".by-outcome", "Failed");
  expect(await shownRecords(opened.page)).toEqual([failed]);
});

test("the timeline can be opened as a table with the keyboard", async (context) => {
  await using opened = await openPage(browserFor(context), busyPage, { isScripted: false });
  await opened.page.focus("summary");
  await opened.page.keyboard.press("Enter");
  expect(await opened.page.evaluate(`document.querySelectorAll("details[open] tbody tr").length`)).toBeGreaterThan(20);
});

test.for([
  { label: null, count: 12, says: "On paper, only those that failed" },
  { label: "Changed something", count: calls.filter(({ writes }) => writes.length > 0).length },
])("a page is printed alike from both schemes, with numbered sheets, and the choice %o", async (row, context) => {
  const { label, count, says = label } = row;
  using folder = temporaryFolder();
  const texts: string[] = [];
  for (const scheme of ["light", "dark"] as const) {
    await using opened = await openPage(browserFor(context), busyPage, { scheme });
    if (label !== null) await choose(opened.page, ".by-outcome", label);
    const file = join(folder.path, `${scheme}.pdf`);
    writeFileSync(file, await opened.page.pdf({ preferCSSPageSize: true }));
    texts.push(await runCommand("pdftotext", ["-layout", file, "-"]));
    await opened.page.emulateMediaType("print");
    expect(await opened.page.evaluate(`getComputedStyle(document.body).backgroundColor`)).toBe("rgb(255, 255, 255)");
  }
  const [text = "", dark] = texts;
  expect(dark).toBe(text);
  const sheets = text.split("\f").filter((sheet) => sheet !== "");
  const numbers = sheets.map((_, at) => [String(at + 1), String(sheets.length)]);
  expect(sheets.map((sheet) => /(\d+) of (\d+)\s*$/.exec(sheet)?.slice(1))).toEqual(numbers);
  const words = text.replaceAll(/\s+/g, " ");
  for (const each of [`${count} of 120 calls shown`, says, "SHA-256"]) expect(words).toContain(each);
  expect(words).not.toContain("Show all");
});
