/** Opens HTML text as a file in a browser, records everything the page does, and measures how it is laid out. */
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

import { launch } from "puppeteer-core";
import type { Browser, Page } from "puppeteer-core";
import { afterAll, beforeAll } from "vitest";
import type { TestContext } from "vitest";

import { programFolders } from "../support/run-command.ts";
import { skipWithReason } from "../support/skip-with-reason.ts";
import { requirePackages } from "../support/system-packages.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

/** Time to install the packages, in milliseconds. */
const browserSetupMs = 600_000;

/** Opens a browser for the tests of a file, and closes it after them. The result returns it, or skips a test without one. */
export function useBrowser(): (context: TestContext) => Browser {
  let browser: Browser | string = "it has not been opened yet";
  beforeAll(async () => {
    // `poppler-utils` reads printed pages.
    const reason = await requirePackages({ chromium: "chromium", pdftotext: "poppler-utils" });
    const executablePath = programFolders.map((each) => join(each, "chromium")).find((each) => existsSync(each));
    browser = reason ?? (await launch({ executablePath: executablePath ?? "/usr/bin/chromium", args: [...flags] }));
  }, browserSetupMs);
  afterAll(async () => {
    if (typeof browser !== "string") await browser.close();
  });
  return (context) => (typeof browser === "string" ? skipWithReason(context, browser) : browser);
}

const flags = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
] as const;

export interface OpenPage extends AsyncDisposable {
  readonly page: Page;
  /** Console messages, errors, and requests for anything but the file itself. */
  readonly noises: readonly string[];
}

export interface View {
  readonly width?: number;
  readonly scheme?: "light" | "dark";
  readonly isScripted?: boolean;
}

export async function openPage(
  browser: Browser,
  html: string,
  { width = 1280, scheme = "light", isScripted = true }: View = {},
): Promise<OpenPage> {
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

/** Of all faults the first five. */
export interface PageLayout {
  /** By how many pixels the page is wider than the window. */
  readonly overflow: number;
  /** Elements and words that reach beyond the window. */
  readonly beyond: readonly string[];
  /** Elements that hide a part of their content, or whose content is wider than they are. */
  readonly cut: readonly string[];
  /** Words that continue in the next line. */
  readonly broken: readonly string[];
  /** Rows in which a text lies over another cell's. */
  readonly covered: readonly string[];
  /** How many words were measured. */
  readonly words: number;
  readonly smallestPx: number;
}

export async function measureLayout(page: Page): Promise<PageLayout> {
  return (await page.evaluate(script)) as PageLayout;
}

/** A word is a run of letters and digits in one text node. `<wbr>` ends a node. */
const script = `(() => {
  const shown = (element) => element.outerHTML.replace(/\\s+/g, " ").slice(0, 160);
  const isUnseen = (element) => element.closest(".spoken, svg, select") !== null || getComputedStyle(element).clipPath !== "none";
  const elements = Array.from(document.body.querySelectorAll("*")).filter((each) => each.checkVisibility() && !isUnseen(each) && !isUnseen(each.closest("thead") ?? each));
  const isOutside = ({ left, right, width }) => width > 0 && (left < -0.5 || right > innerWidth + 0.5);
  const beyond = elements.filter((each) => isOutside(each.getBoundingClientRect())).map(shown);
  const cut = elements.filter((each) => {
    const { overflowY, display } = getComputedStyle(each);
    if (display === "inline") return false;
    return (overflowY !== "visible" && each.scrollHeight > each.clientHeight + 1) || each.scrollWidth > Math.max(each.clientWidth, 1) + 1;
  });
  const range = document.createRange();
  const [broken, covered, rows] = [[], [], new Map()];
  let [words, smallestPx] = [0, Infinity];
  for (const element of elements) {
    const cell = element.closest("th, td, dt, dd");
    for (const node of Array.from(element.childNodes).filter((each) => each.nodeType === Node.TEXT_NODE)) {
      for (const { 0: word, index } of node.data.matchAll(/[\\p{L}\\p{M}\\p{N}]+/gu)) {
        words++;
        smallestPx = Math.min(smallestPx, parseFloat(getComputedStyle(element).fontSize));
        range.setStart(node, index);
        range.setEnd(node, index + word.length);
        const rects = Array.from(range.getClientRects()).filter(({ width }) => width > 0);
        const tops = rects.map(({ top }) => top);
        if (Math.max(...tops) - Math.min(...tops) > 4) broken.push(word + " in " + shown(element));
        if (rects.some(isOutside)) beyond.push(shown(element));
        const row = cell?.parentElement;
        if (row) rows.set(row, [...(rows.get(row) ?? []), ...rects.map((rect) => ({ cell, rect }))]);
      }
    }
  }
  const lies = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 2;
  for (const [row, rects] of rows)
    if (rects.some(({ cell, rect }, at) => rects.slice(0, at).some((other) => other.cell !== cell && lies(other.rect, rect)))) covered.push(shown(row));
  const overflow = document.scrollingElement.scrollWidth - innerWidth;
  return { overflow, beyond: beyond.slice(0, 5), cut: cut.slice(0, 5).map(shown), broken, covered: covered.slice(0, 5), words, smallestPx };
})()`;
