/** The page is readable: light, dark, on a phone and on paper. Saves screenshots in the folder named by TEST_SHOTS. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { htmlPage } from "../../host/report/page/html-page.ts";
import { runCommand } from "../support/run-command.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { openPage, useBrowser } from "./browser-page.ts";
import { leastContrast } from "./contrast.ts";
import { hostileLog, hostileReport } from "./hostile-samples.ts";
import { brokenLog, busyLog } from "./log-samples.ts";
import { measureLayout } from "./page-layout.ts";
import { failingReport, passingReport, unreadableReport } from "./report-samples.ts";
import { wideLog, wideReports } from "./wide-samples.ts";

const browserFor = useBrowser();

const pages = [
  { name: "pass", html: htmlPage([passingReport()], null) },
  { name: "fail", html: htmlPage([failingReport()], null) },
  { name: "log", html: htmlPage([passingReport()], busyLog()) },
  { name: "broken-log", html: htmlPage([unreadableReport(), passingReport()], brokenLog()) },
  { name: "wide", html: htmlPage(wideReports(), wideLog()) },
  { name: "hostile", html: htmlPage([hostileReport()], hostileLog()) },
] as const;

const views = pages.flatMap(({ name, html }) => (["light", "dark"] as const).map((scheme) => ({ name, html, scheme })));

test.for(views)("every text of $name has enough contrast in $scheme", async ({ html, scheme }, context) => {
  const browser = browserFor(context);
  await using opened = await openPage(browser, html, { scheme });
  const { ratio, text, texts } = await leastContrast(opened.page);
  expect(texts).toBeGreaterThan(100);
  expect(ratio, text).toBeGreaterThanOrEqual(4.5);
});

test("light and dark look different", async (context) => {
  const browser = browserFor(context);
  const backgrounds = [];
  for (const scheme of ["light", "dark"] as const) {
    await using opened = await openPage(browser, pages[0].html, { scheme });
    backgrounds.push(await opened.page.evaluate(`getComputedStyle(document.body).backgroundColor`));
    await keepShot(`pass-${scheme}`, await opened.page.screenshot({ fullPage: true }));
  }
  expect(backgrounds).toEqual(["rgb(255, 255, 255)", "rgb(18, 22, 27)"]);
});

const layouts = pages.flatMap(({ name, html }) => [320, 390, 768, 1280].map((width) => ({ name, html, width })));

test.for(layouts)("$name fits a window of $width pixels, and breaks no word", async ({ html, width }, context) => {
  const browser = browserFor(context);
  await using opened = await openPage(browser, html, { width });
  const { words, smallestPx, broken, ...faults } = await measureLayout(opened.page);
  expect(faults).toEqual({ overflow: 0, beyond: [], cut: [], covered: [] });
  // The widest letters of all, in a word without an end, do not fit the narrowest column.
  const others = broken.filter((word) => !/^(?:W\u0300)+ in /.test(word));
  expect(others.slice(0, 5)).toEqual([]);
  expect(words).toBeGreaterThan(100);
  expect(smallestPx).toBeGreaterThanOrEqual(10);
});

const printed = pages.filter(({ name }) => name !== "hostile");

test.for(printed)("$name can be printed, also from the dark scheme", async ({ name, html }, context) => {
  const browser = browserFor(context);
  using folder = temporaryFolder();
  const text: string[] = [];
  for (const scheme of ["light", "dark"] as const) {
    await using opened = await openPage(browser, html, { scheme });
    const file = join(folder.path, `${scheme}.pdf`);
    writeFileSync(file, await opened.page.pdf({ preferCSSPageSize: true }));
    text.push(await runCommand("pdftotext", ["-layout", file, "-"]));
    await opened.page.emulateMediaType("print");
    const colours = `({ page: getComputedStyle(document.body).backgroundColor, text: getComputedStyle(document.body).color })`;
    expect(await opened.page.evaluate(colours)).toEqual({ page: "rgb(255, 255, 255)", text: "rgb(26, 31, 38)" });
  }
  expect(text[0]).toBe(text[1]);
  const sheets = (text[0] ?? "").split("\f").filter((sheet) => sheet !== "");
  expect(sheets.map((sheet) => /(\d+) of (\d+)\s*$/.exec(sheet)?.slice(1))).toEqual(
    sheets.map((_, at) => [String(at + 1), String(sheets.length)]),
  );
  expect(text[0]).toContain(passingReport().artifact.sha256);
  expect(text[0]).toContain("SHA-256");
  await keepShot(`${name}-print`, Buffer.from(text[0] ?? ""));
});

async function keepShot(name: string, bytes: Uint8Array): Promise<void> {
  const folder = process.env["TEST_SHOTS"];
  if (folder) writeFileSync(join(folder, name), bytes);
}
