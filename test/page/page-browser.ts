/** Chromium for the suites of this folder: one for all tests of a file, with a profile of its own for each test. */
import { existsSync } from "node:fs";
import { join } from "node:path";

import { launch } from "puppeteer-core";
import type { Browser, ConsoleMessage, Page } from "puppeteer-core";
import { afterAll, beforeAll } from "vitest";
import type { TestContext } from "vitest";

import { programFolders } from "../support/run-command.ts";
import { skipWithReason } from "../support/skip-with-reason.ts";
import { requirePackages } from "../support/system-packages.ts";
import type { ServedPage } from "./page-stage.ts";

export interface View {
  readonly width?: number;
  readonly scheme?: "light" | "dark";
}

/** A tab in a profile of its own. */
export interface Tab extends AsyncDisposable {
  readonly page: Page;
  /** Console messages, errors and dialogs, and requests for anything but pages of the origins that are expected. */
  readonly noises: string[];
}

type OpenTab = (context: TestContext, origins?: readonly string[], view?: View) => Promise<Tab>;

/** Call it once in a file. Opens tabs, or skips a test if there is no browser. */
export function useBrowser(): OpenTab {
  let browser: Browser | string = "it has not been opened yet";
  beforeAll(async () => {
    const reason = await requirePackages({ chromium: "chromium" });
    const executablePath = programFolders.map((each) => join(each, "chromium")).find((each) => existsSync(each));
    const args = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-background-networking"];
    browser = reason ?? (await launch({ executablePath: executablePath ?? "/usr/bin/chromium", args }));
    // Installing the packages takes minutes.
  }, 600_000);
  afterAll(async () => {
    if (typeof browser !== "string") await browser.close();
  });
  return async (context, origins = [], { width = 1280, scheme = "light" } = {}) => {
    if (typeof browser === "string") return skipWithReason(context, browser);
    const profile = await browser.createBrowserContext();
    const page = await profile.newPage();
    const noises: string[] = [];
    page.on("console", (message) => {
      if (!isOfBrowser(message)) noises.push(`console: ${message.text()}`);
    });
    page.on("pageerror", (error) => noises.push(`error: ${String(error)}`));
    page.on("dialog", (dialog) => noises.push(`dialog: ${dialog.message()}`));
    page.on("request", (request) => {
      if (!origins.includes(new URL(request.url()).origin)) noises.push(`request: ${request.url()}`);
    });
    await page.setViewport({ width, height: 900 });
    await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
    return { page, noises, [Symbol.asyncDispose]: () => profile.close() };
  };
}

/** The browser says itself that it has done what `Clear-Site-Data` asks for, sooner or later. */
export const isOfBrowser = (message: ConsoleMessage): boolean =>
  message.text().startsWith("Clear-Site-Data header on ");

/** Follows the link. The page of the link leads on by itself. */
export async function enterIn(page: Page, { origin, link, base }: ServedPage): Promise<void> {
  const arrived = page.waitForResponse(`${origin}${base}`);
  await page.goto(`${origin}${link}`);
  await arrived;
  await page.waitForSelector("main h1");
}

/** Does something that leads to another page, and waits for it. */
export async function leadingOn(page: Page, act: () => Promise<unknown>): Promise<void> {
  await Promise.all([page.waitForNavigation({ waitUntil: "load" }), act()]);
}

export const wordsOn = async (page: Page): Promise<string> =>
  ((await page.evaluate("document.body.innerText")) as string).replaceAll(/\s+/g, " ").trim();
