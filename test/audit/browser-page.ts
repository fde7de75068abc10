/** Opens HTML text as a file in a browser and records everything the page does. */
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

import { launch } from "puppeteer-core";
import type { Browser, Page } from "puppeteer-core";
import { afterAll, beforeAll } from "vitest";
import type { TestContext } from "vitest";

import { programFolders } from "../support/run-command.ts";
import { skipWithReason } from "../support/skip-with-reason.ts";
import { requirePackages } from "../support/system-packages.ts";

/** Time to install the packages, in milliseconds. */
const browserSetupMs = 600_000;

/** Opens a browser for the tests of a file, and closes it after them. The result returns it, or skips a test without one. */
export function useBrowser(): (context: TestContext) => Browser {
  let browser: Browser | string = "it has not been opened yet";
  beforeAll(async () => {
    browser = await openBrowser();
  }, browserSetupMs);
  afterAll(async () => {
    if (typeof browser !== "string") await browser.close();
  });
  return (context) => (typeof browser === "string" ? skipWithReason(context, browser) : browser);
}

/** A browser, or the reason why there is none. `poppler-utils` reads printed pages. */
async function openBrowser(): Promise<Browser | string> {
  const reason = await requirePackages({ chromium: "chromium", pdftotext: "poppler-utils" });
  if (reason !== null) return reason;
  return launch({ executablePath: chromiumPath(), args: [...flags] });
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

function chromiumPath(): string {
  const folder = programFolders.find((each) => existsSync(join(each, "chromium")));
  return join(folder ?? "/usr/bin", "chromium");
}

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

export async function openPage(browser: Browser, html: string, view: View = {}): Promise<OpenPage> {
  const folder = mkdtempSync(join(tmpdir(), "memcell-page-"));
  const file = join(folder, "audit.html");
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
  await page.setViewport({ width: view.width ?? 1280, height: 900 });
  await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: view.scheme ?? "light" }]);
  if (view.isScripted === false) await page.setJavaScriptEnabled(false);
  await page.goto(url, { waitUntil: "load" });
  return {
    page,
    noises,
    [Symbol.asyncDispose]: async () => {
      await page.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
