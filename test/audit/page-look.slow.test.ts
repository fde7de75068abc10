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
import { failingReport, passingReport, unreadableReport } from "./report-samples.ts";

const browserFor = useBrowser();

const pages = [
  { name: "pass", html: htmlPage([passingReport()], null) },
  { name: "fail", html: htmlPage([failingReport()], null) },
  { name: "log", html: htmlPage([passingReport()], busyLog()) },
  { name: "broken-log", html: htmlPage([unreadableReport(), passingReport()], brokenLog()) },
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

test.for(pages)("$name fits a phone", async ({ name, html }, context) => {
  const browser = browserFor(context);
  await using opened = await openPage(browser, html, { width: 360 });
  const measured = `({
    width: document.documentElement.scrollWidth,
    beyond: Array.from(document.querySelectorAll("body *")).filter((each) => !each.closest(".scroll, svg") && each.getBoundingClientRect().right > 361).map((each) => each.outerHTML.slice(0, 80)),
    smallest: Math.min(...Array.from(document.querySelectorAll("body *")).filter((each) => !each.closest("svg")).map((each) => parseFloat(getComputedStyle(each).fontSize))),
  })`;
  expect(await opened.page.evaluate(measured)).toEqual({
    width: 360,
    beyond: [],
    smallest: expect.toSatisfy((px: number) => px >= 10),
  });
  await keepShot(`${name}-360`, await opened.page.screenshot());
});

test.for(pages)("no name of $name pushes a column out of view", async ({ html }, context) => {
  const browser = browserFor(context);
  const tooWide = `Array.from(document.querySelectorAll(".scroll"), (box) => box.scrollWidth - box.clientWidth).filter((px) => px > 0)`;
  await using wide = await openPage(browser, html);
  expect(await wide.page.evaluate(tooWide)).toEqual([]);
  // On a phone a table scrolls. Long names do not make it wider.
  await using narrow = await openPage(browser, html, { width: 360 });
  const widths = `Array.from(document.querySelectorAll(".wide"), (table) => table.getBoundingClientRect().width)`;
  const found = (await narrow.page.evaluate(widths)) as number[];
  expect(Math.max(...found)).toBeLessThanOrEqual(720);
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
