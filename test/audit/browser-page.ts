/** Opens HTML text as a file in a browser, and records everything the page does. */
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
