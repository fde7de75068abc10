/** Accessibility of the page: what a screen reader gets, and what axe finds. */
import axe from "axe-core";
import type { AxeResults } from "axe-core";
import type { SerializedAXNode } from "puppeteer-core";
import { expect, test } from "vitest";

import { htmlPage } from "../../host/report/page/html-page.ts";
import { openPage, useBrowser } from "./browser-page.ts";
import { brokenLog, busyLog, quietLog } from "./log-samples.ts";
import { failingReport, passingReport, unreadableReport } from "./report-samples.ts";

const browserFor = useBrowser();

/** Fewer rows, because rows are alike and axe examines each. */
const log = {
  ...busyLog(),
  unfitUses: busyLog().unfitUses.slice(0, 20),
  latestCalls: busyLog().latestCalls.slice(0, 20),
};

const pages = [
  { name: "a plugin that passes", html: htmlPage([passingReport()], null) },
  { name: "a plugin that deviates, and a log", html: htmlPage([failingReport(), passingReport()], log) },
  { name: "a file that is no plugin, and a broken log", html: htmlPage([unreadableReport()], brokenLog()) },
  { name: "a log without calls", html: htmlPage([passingReport()], quietLog()) },
] as const;

const views = pages.flatMap(({ name, html }) =>
  [1280, 390].flatMap((width) => (["light", "dark"] as const).map((scheme) => ({ name, html, width, scheme }))),
);

test.for(views)("axe finds nothing in $name, $width wide, $scheme", async ({ html, width, scheme }, context) => {
  const browser = browserFor(context);
  await using opened = await openPage(browser, html, { width, scheme });
  await opened.page.evaluate(axe.source);
  const found = (await opened.page.evaluate(`axe.run()`)) as AxeResults;
  const complaints = found.violations.map(({ id, help, nodes }) => [id, help, nodes[0]?.html.slice(0, 200)]);
  expect(complaints).toEqual([]);
  expect(found.passes.length).toBeGreaterThan(20);
});

test("a screen reader gets every heading, table and mark", async (context) => {
  const browser = browserFor(context);
  await using opened = await openPage(browser, htmlPage([failingReport()], busyLog()));
  const root = await opened.page.accessibility.snapshot({ interestingOnly: false });
  const nodes = root ? flattened(root) : [];
  const named = (role: string): string[] => nodes.filter((node) => node.role === role).map((node) => node.name ?? "");

  expect(named("heading").slice(0, 5)).toEqual([
    "memcell audit",
    "user-memory.wasm",
    "Verdict",
    "Identity",
    "Capabilities",
  ]);
  expect(named("table")).toEqual([
    "What each tool asks for, and what the policy allows it",
    "What each right means",
    "Unknown to the ABI",
    "Capabilities, from extism:host/user: each use is checked against the rights of the tool",
    "The Extism kernel, from extism:host/env: how a call’s text goes in and comes out",
    "Exports: what a host can call or see",
    "Custom sections: data that is never run",
    "Limits of a call of this plugin: the lowest of host, policy and manifest",
    "Limits of every plugin, set by the host",
    "10,000 calls by 37 users, of which 242 failed",
    "38 users: those with denials or refused requests first, then those with failed calls. Times are UTC.",
    "200 capability uses were denied, 12 failed otherwise. Times are UTC.",
    "1,000 requests were refused before any tool was called. Times are UTC.",
    "The calls in the order of the log. Times are UTC.",
  ]);
  const rows = nodes.filter((node) => node.role === "row").map((node) => wordsOf(node));
  expect(rows).toContain(
    "ReadUserMemory asked for and allowed neither asked for, not allowed neither neither asked for and allowed memory asked for, not allowed secrets the model",
  );
  expect(named("image")).toEqual(["Calls", "Failed calls", "Denials", "Refused requests"]);
  expect(named("form")).toEqual(["Which calls to show"]);
  expect(named("combobox")).toEqual(["User", "Tool", "Outcome"]);
});

test("on a phone, blocks are still rows of a table, and labels are not read twice", async (context) => {
  const browser = browserFor(context);
  const rowsAt = async (width: number): Promise<string[]> => {
    await using opened = await openPage(browser, htmlPage([failingReport()], log), { width });
    const root = await opened.page.accessibility.snapshot({ interestingOnly: false });
    const nodes = root ? flattened(root) : [];
    return nodes.filter((node) => node.role === "row").map((node) => wordsOf(node));
  };
  const wide = await rowsAt(1280);
  expect(wide.length).toBeGreaterThan(100);
  // The record's number has its label in front, because nothing else in the block tells what it is.
  expect((await rowsAt(390)).map((row) => row.replace(/^Record (?=[\d,]+ \d{4}-)/, ""))).toEqual(wide);
});

test("the timeline can be opened as a table with the keyboard", async (context) => {
  const browser = browserFor(context);
  await using opened = await openPage(browser, htmlPage([passingReport()], busyLog()), { isScripted: false });
  await opened.page.focus("summary");
  await opened.page.keyboard.press("Enter");
  const rows = `document.querySelectorAll("details[open] tbody tr").length`;
  expect(await opened.page.evaluate(rows)).toBe(96);
});

function flattened(node: SerializedAXNode): SerializedAXNode[] {
  return [node, ...(node.children ?? []).flatMap((child) => flattened(child))];
}

function wordsOf(node: SerializedAXNode): string {
  const texts = flattened(node).filter(({ role }) => role === "StaticText");
  return texts
    .map(({ name }) => (name ?? "").trim())
    .filter((name) => name !== "")
    .join(" ")
    .replaceAll("\u00a0", " ");
}
