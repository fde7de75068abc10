/** The pages in Chromium: they run and load nothing, fit every window, are accessible, and their list of calls is filtered. */
import { randomBytes } from "node:crypto";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

import axe from "axe-core";
import type { AxeResults } from "axe-core";
import { launch } from "puppeteer-core";
import type { Browser, Page, SerializedAXNode } from "puppeteer-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { TestContext } from "vitest";

import type { AuditEntry, CallEntry } from "../stage/audit-log.ts";
import { programFolders, runCommand } from "../support/run-command.ts";
import { skipWithReason } from "../support/skip-with-reason.ts";
import { requirePackages } from "../support/system-packages.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { audit, callEntry, refusedEntry, useEntry } from "./audited.ts";
import { imported, withTool } from "./changed-plugin.ts";
import { pageOf, pageWith, payloads } from "./hostile-texts.ts";

const tools = ["ReadUserMemory", "PromptIndex", "UpdateUserMemory", null];
/** One of them wants to choose all calls. */
const users = ["alice", '"><option class="every">', "8f14e45f-ceea-467f-a8b1-52a0f3f1c6aa", "山田"];
const codes = ["CAPABILITY_DENIED", "DEADLINE_EXCEEDED", "INPUT_INVALID"] as const;
const origin = {
  class: "tool_external",
  run: "0192f0c1-6a1d-7cc3-98a4-2f6f3f1f7b10",
  turn: "12",
  source: "https://shop.example.com/menu?week=17&language=en",
} as const;

/** Every tenth call has failed, every seventh is from a web page, every fourth has changed something. */
const calls = Array.from({ length: 120 }, (_, at) => {
  const code = at % 10 === 4 ? (codes[at % 3] ?? null) : null;
  const file = { scope: "memory", path: "a.md", bytes: 1 };
  return callEntry(at, {
    userId: users[at % users.length] ?? null,
    tool: tools[(at + Math.floor(at / 4)) % tools.length] ?? null,
    ...(at % 7 === 3 && { origin: { ...origin, exposedTo: ["direct_user", "tool_external"] } }),
    code,
    usesDenied: code === "CAPABILITY_DENIED" ? 1 : 0,
    ...(code === null && at % 4 === 2 ? { writes: [file] } : { writes: [], changes: "none" as const }),
  });
});
const noted: AuditEntry[] = [
  useEntry(1, { path: "../../bob/memory/secret.md" }),
  useEntry(2, { code: "STORAGE_UNSAFE", capability: "clock_now", scope: null, path: null }),
  refusedEntry({ times: 996, peer: null }),
];

const failing = [
  imported("wasi_snapshot_preview1", "fd_write"),
  withTool("ReadUserMemory", { rights: ["read", "write"] }),
  Buffer.from("no module"),
];
const busyPage = await pageOf(["user-memory"], [...calls, ...noted]);
const failingPage = await pageOf(failing, [...calls.slice(0, 20), ...noted], 3);

const pages = [
  { name: "a log", html: busyPage },
  { name: "plugins that fail and a broken log", html: failingPage },
  { name: "a plugin that passes, and a log without calls", html: await pageOf(["user-memory"], [{ kind: "closed" }]) },
  { name: "hostile texts", html: await pageWith(payloads) },
];

let browser: Browser | string = "it has not been opened yet";
beforeAll(async () => {
  // `poppler-utils` reads printed pages.
  const reason = await requirePackages({ chromium: "chromium", pdftotext: "poppler-utils" });
  const executablePath = programFolders.map((each) => join(each, "chromium")).find((each) => existsSync(each));
  const args = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-background-networking"];
  browser = reason ?? (await launch({ executablePath: executablePath ?? "/usr/bin/chromium", args }));
  // Installing the packages takes minutes.
}, 600_000);
afterAll(async () => {
  if (typeof browser !== "string") await browser.close();
});

interface OpenPage extends AsyncDisposable {
  readonly page: Page;
  /** Console messages, errors, and requests for anything but the file itself. */
  readonly noises: readonly string[];
}

interface View {
  readonly width?: number;
  readonly scheme?: "light" | "dark";
  readonly isScripted?: boolean;
}

async function openPage(
  context: TestContext,
  html: string,
  { width = 1280, scheme = "light", isScripted = true }: View = {},
): Promise<OpenPage> {
  if (typeof browser === "string") return skipWithReason(context, browser);
  const folder = temporaryFolder();
  const file = join(folder.path, "audit.html");
  writeFileSync(file, html);
  const url = pathToFileURL(file).href;
  const page = await browser.newPage();
  const noises: string[] = [];
  page.on("console", (message) => noises.push(`console: ${message.text()}`));
  page.on("pageerror", (error) => noises.push(`error: ${String(error)}`));
  page.on("dialog", (dialog) => noises.push(`dialog: ${dialog.message()}`));
  page.on("request", (request) => {
    if (request.url() !== url) noises.push(`request: ${request.url()}`);
  });
  await page.setViewport({ width, height: 900 });
  await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
  if (!isScripted) await page.setJavaScriptEnabled(false);
  await page.goto(url, { waitUntil: "load" });
  return {
    page,
    noises,
    [Symbol.asyncDispose]: async () => {
      await page.close();
      folder[Symbol.dispose]();
    },
  };
}

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

test.for(pages)("a page of $name runs and loads nothing, and fits every window", async ({ html }, context) => {
  await using opened = await openPage(context, html);
  expect(await opened.page.evaluate(strangers)).toEqual(nothing);
  for (const width of [320, 768, 1280]) {
    await opened.page.setViewport({ width, height: 900 });
    const beyond = await opened.page.evaluate(`document.scrollingElement.scrollWidth - innerWidth`);
    expect({ width, beyond }).toEqual({ width, beyond: 0 });
  }
  expect(opened.noises).toEqual([]);
});

test.for([
  { name: "a plugin", made: (await audit("user-memory")).page },
  { name: "a log, which has style rules of its own", made: busyPage },
])("the policy of a page of $name stops what gets past the escaping", async ({ made }, context) => {
  const marker = randomBytes(4).toString("hex");
  const intruder = `<main><script>window.ran = 1</script><img src="http://127.0.0.1:9/${marker}" onerror="window.ran = 1">
    <style>h1 { display: none }</style><link rel="stylesheet" href="http://127.0.0.1:9/${marker}.css">
    <iframe srcdoc="<script>parent.ran = 1</script>"></iframe><p style="display: none" id="intruder">here</p>
    <form action="http://127.0.0.1:9/${marker}"><button id="send">Send</button></form>`;
  const page = made.replace("<main>", intruder);
  await using closed = await openPage(context, page);
  const state = `({ ran: "ran" in window, h1: getComputedStyle(document.querySelector("h1")).display, p: getComputedStyle(document.querySelector("#intruder")).display })`;
  expect(await closed.page.evaluate(state)).toEqual({ ran: false, h1: "block", p: "block" });
  const sending = new Promise<string>((resolve) => closed.page.once("console", (message) => resolve(message.text())));
  await closed.page.click("#send");
  expect(await sending).toContain("form-action 'none'");
  expect(closed.noises.filter((noise) => /violates|Refused|blocked/i.test(noise)).length).toBeGreaterThan(3);
  // The same page without its policy shows that the policy made the difference.
  await using open = await openPage(context, page.replace(/<meta\s+http-equiv="Content-Security-Policy"[^>]*>/, ""));
  expect(await open.page.evaluate(state)).toEqual({ ran: true, h1: "none", p: "none" });
  expect(open.noises.some((noise) => noise.includes(marker))).toBe(true);
});

test("no text reverses the text next to it", async (context) => {
  await using opened = await openPage(context, await pageWith(["\u05d0\u05d1\u05d2"]));
  const isolation = `getComputedStyle(document.querySelector(".verdict bdi")).unicodeBidi`;
  expect(await opened.page.evaluate(isolation)).toBe("isolate");
});

test.for([
  { name: "a log", html: busyPage, width: 1280, scheme: "light" as const },
  { name: "a log", html: busyPage, width: 390, scheme: "dark" as const },
  { name: "plugins that fail", html: failingPage, width: 1280, scheme: "dark" as const },
  { name: "plugins that fail", html: failingPage, width: 390, scheme: "light" as const },
])("axe finds nothing in a page of $name, $width wide, $scheme", async ({ html, width, scheme }, context) => {
  await using opened = await openPage(context, html, { width, scheme });
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

/** What a screen reader gets of the nodes of a role. */
async function spoken(page: Page, role: string): Promise<string[]> {
  const nodes = flattened(await page.accessibility.snapshot({ interestingOnly: false }));
  const texts = nodes
    .filter((node) => node.role === role)
    .map((node) => flattened(node).flatMap((each) => (each.role === "StaticText" ? [(each.name ?? "").trim()] : [])));
  return texts.map((parts) => parts.filter(Boolean).join(" ").replaceAll(/\s+/g, " "));
}

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
  [{ ".by-user": hostileUser }, ({ userId }) => userId === hostileUser, 768],
  [{ ".by-outcome": "Denied a capability" }, ({ usesDenied }) => usesDenied > 0, 1280],
  [{ ".by-user": "alice", ".by-outcome": "Failed" }, ({ userId, code }) => userId === "alice" && code !== null, 1280],
  [
    { ".by-tool": noTool, ".by-outcome": "Changed something" },
    ({ tool, writes }) => tool === null && writes.length > 0,
    1280,
  ],
])("the keyboard chooses %o without scripts, and the page says how many it shows", async (row, context) => {
  const [chosen, isMet, width] = row;
  await using opened = await openPage(context, busyPage, { isScripted: false, width });
  expect(await shownRecords(opened.page)).toEqual(everyCall);
  for (const [select, label] of Object.entries(chosen)) await choose(opened.page, select, label);
  const records = everyCall.filter((at) => calls[at] !== undefined && isMet(calls[at]));
  expect(await shownRecords(opened.page)).toEqual(records);
  expect(await spoken(opened.page, "status")).toEqual([`${records.length} of 120 calls shown`]);
  // The next stop after the last choice takes all of them back.
  await opened.page.focus(".by-outcome");
  await opened.page.keyboard.press("Tab");
  await opened.page.keyboard.press("Enter");
  expect(await shownRecords(opened.page)).toEqual(everyCall);
});

test("the one failed call among 5,000 can be chosen", async (context) => {
  const failed = 500;
  const many = Array.from({ length: 5_000 }, (_, at) => callEntry(at, at === failed ? { code: "INTERNAL" } : {}));
  await using opened = await openPage(context, await pageOf(["user-memory"], many));
  await choose(opened.page, ".by-outcome", "Failed");
  expect(await shownRecords(opened.page)).toEqual([failed]);
});

test.for([
  { label: null, count: 12, says: "On paper, only those that failed" },
  { label: "Changed something", count: calls.filter(({ writes }) => writes.length > 0).length },
])(
  "a page is printed in dark letters on white, with the choice %o",
  async ({ label, count, says = label }, context) => {
    using folder = temporaryFolder();
    await using opened = await openPage(context, busyPage, { scheme: "dark" });
    if (label !== null) await choose(opened.page, ".by-outcome", label);
    const file = join(folder.path, "page.pdf");
    writeFileSync(file, await opened.page.pdf({ preferCSSPageSize: true }));
    const words = (await runCommand("pdftotext", ["-layout", file, "-"])).replaceAll(/\s+/g, " ");
    for (const each of [`${count} of 120 calls shown`, says, "SHA-256"]) expect(words).toContain(each);
    expect(words).not.toContain("Show all");
    await opened.page.emulateMediaType("print");
    expect(await opened.page.evaluate(`getComputedStyle(document.body).backgroundColor`)).toBe("rgb(255, 255, 255)");
  },
);
