/** The filter of the list of calls in a browser: by keyboard, without scripts, for a screen reader, and on paper. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";

import type { Page } from "puppeteer-core";
import { expect, test } from "vitest";

import type { ListedCall, LogSummary } from "../../host/audit/verify/log-summary.ts";
import { htmlPage } from "../../host/report/page/html-page.ts";
import { runCommand } from "../support/run-command.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { openPage, useBrowser } from "./browser-page.ts";
import { hostileLog, payloads } from "./hostile-samples.ts";
import { busyLog } from "./log-samples.ts";

const browserFor = useBrowser();

const calls = busyLog().latestCalls;
const page = htmlPage([], busyLog());

/** What a reader sees of the list: the record numbers of the rows, and the count as a screen reader gets it. */
async function shown(opened: Page): Promise<{ records: number[]; count: string }> {
  return { records: await recordsShown(opened), count: await countSpoken(opened) };
}

async function recordsShown(opened: Page): Promise<number[]> {
  const rows = `Array.from(document.querySelectorAll(".calls tbody tr")).filter((row) => row.checkVisibility()).map((row) => Number(row.cells[0].textContent.replaceAll(",", "")))`;
  return (await opened.evaluate(rows)) as number[];
}

async function countSpoken(opened: Page): Promise<string> {
  await using session = await opened
    .createCDPSession()
    .then((cdp) => ({ cdp, [Symbol.asyncDispose]: () => cdp.detach() }));
  const { nodes } = await session.cdp.send("Accessibility.getFullAXTree");
  const byId = new Map(nodes.map((node) => [node.nodeId, node]));
  const spoken = (node: (typeof nodes)[number] | undefined): string =>
    node?.role?.value === "StaticText"
      ? String(node.name?.value)
      : (node?.childIds ?? []).map((id) => spoken(byId.get(id))).join("");
  return spoken(nodes.find(({ role }) => role?.value === "status")).replaceAll(/\s+/g, " ");
}

/** Chooses like a keyboard user: the arrow keys go through the options. */
async function choose(opened: Page, select: string, label: string): Promise<void> {
  await opened.focus(select);
  const chosen = `document.querySelector("${select}").selectedOptions[0].textContent.trim()`;
  for (let presses = 0; (await opened.evaluate(chosen)) !== label; presses++) {
    if (presses === 700) throw new Error(`There is no choice ${label}`);
    await opened.keyboard.press("ArrowDown");
  }
}

const recordsOf = (isMet: (call: ListedCall) => boolean): number[] => calls.filter(isMet).map(({ seq }) => seq);

const choices: readonly { name: string; choose: Record<string, string>; isMet: (call: ListedCall) => boolean }[] = [
  { name: "a user", choose: { ".by-user": "alice" }, isMet: ({ userId }) => userId === "alice" },
  { name: "a user in Japanese", choose: { ".by-user": "山田" }, isMet: ({ userId }) => userId === "山田" },
  { name: "a tool", choose: { ".by-tool": "PromptIndex" }, isMet: ({ tool }) => tool === "PromptIndex" },
  { name: "no valid tool name", choose: { ".by-tool": "no valid tool name" }, isMet: ({ tool }) => tool === null },
  { name: "failures", choose: { ".by-outcome": "Failed" }, isMet: ({ code }) => code !== null },
  { name: "successes", choose: { ".by-outcome": "Succeeded" }, isMet: ({ code }) => code === null },
  { name: "denials", choose: { ".by-outcome": "Denied a capability" }, isMet: ({ denials }) => denials > 0 },
  { name: "changes", choose: { ".by-outcome": "Changed something" }, isMet: ({ written }) => written > 0 },
  { name: "one code", choose: { ".by-outcome": "INPUT_INVALID" }, isMet: ({ code }) => code === "INPUT_INVALID" },
  {
    name: "a user, a tool and an outcome together",
    choose: { ".by-user": "alice", ".by-tool": "no valid tool name", ".by-outcome": "Failed" },
    isMet: ({ userId, tool, code }) => userId === "alice" && tool === null && code !== null,
  },
  {
    name: "what no call has",
    choose: { ".by-tool": "PromptIndex", ".by-outcome": "Failed" },
    isMet: ({ tool, code }) => tool === "PromptIndex" && code !== null,
  },
];

test.for(choices)(
  "the keyboard chooses $name, and the page says how many it shows",
  async ({ choose: chosen, isMet }, context) => {
    const browser = browserFor(context);
    await using opened = await openPage(browser, page, { isScripted: false });
    expect(await shown(opened.page)).toEqual({ records: recordsOf(() => true), count: "300 of 300 calls shown" });
    for (const [select, label] of Object.entries(chosen)) await choose(opened.page, select, label);
    const records = recordsOf(isMet);
    expect(await shown(opened.page)).toEqual({ records, count: `${records.length} of 300 calls shown` });
    // The next stop after the last choice takes all of them back.
    await opened.page.focus(".by-outcome");
    await opened.page.keyboard.press("Tab");
    await opened.page.keyboard.press("Enter");
    expect(await recordsShown(opened.page)).toEqual(recordsOf(() => true));
  },
);

test.for([320, 390, 768])(
  "the filter works in a window of %d pixels, where rows are blocks",
  async (width, context) => {
    const browser = browserFor(context);
    await using opened = await openPage(browser, page, { width });
    await choose(opened.page, ".by-outcome", "Failed");
    expect(await recordsShown(opened.page)).toEqual(recordsOf(({ code }) => code !== null));
  },
);

/** 5,000 calls of as many users, one of which has failed. */
function fullLog(): LogSummary {
  const [call] = calls;
  if (!call) throw new Error("The sample has no call");
  const latestCalls = Array.from({ length: 5_000 }, (_, at) => ({
    ...call,
    seq: at,
    userId: `user-${at}`,
    code: at === 4_321 ? "DEADLINE_EXCEEDED" : null,
  }));
  return { ...busyLog(), latestCalls };
}

test("finds one failed call among 5,000, and its user among 5,000", { timeout: 120_000 }, async (context) => {
  const browser = browserFor(context);
  await using opened = await openPage(browser, htmlPage([], fullLog()));
  await choose(opened.page, ".by-outcome", "DEADLINE_EXCEEDED");
  expect(await shown(opened.page)).toEqual({ records: [4_321], count: "1 of 5000 calls shown" });
  const names = `Array.from(document.querySelectorAll(".by-user option"), (option) => option.textContent.trim())`;
  const users = (await opened.page.evaluate(names)) as string[];
  expect(users).toHaveLength(502);
  expect(users).toContain("user-4321");
  expect(users.at(-1)).toBe("4,500 other users");
});

test("no user id, tool name or code chooses other rows than its own", async (context) => {
  const browser = browserFor(context);
  const log = hostileLog();
  await using opened = await openPage(browser, htmlPage([], log), { isScripted: false });
  const options = `Array.from(document.querySelectorAll(".filter option"), (option) => option.className)`;
  const classes = (await opened.page.evaluate(options)) as string[];
  expect(classes.filter((name) => !/^(?:every|failed|denied|changed|succeeded|[utc]\d+)$/.test(name))).toEqual([]);
  for (const select of [".by-user", ".by-tool", ".by-outcome"]) {
    await opened.page.focus(select);
    const count = (await opened.page.evaluate(`document.querySelector("${select}").options.length`)) as number;
    const left: number[] = [];
    for (let at = 1; at < count; at++) {
      await opened.page.keyboard.press("ArrowDown");
      left.push((await recordsShown(opened.page)).length);
    }
    // The codes come last; before them, outcomes can overlap.
    const ofNames = select === ".by-outcome" ? left.slice(4) : left;
    expect(ofNames.reduce((sum, rows) => sum + rows, 0)).toBe(log.latestCalls.length);
    expect(Math.min(...ofNames)).toBeGreaterThan(0);
    await opened.page.keyboard.press("Home");
  }
  expect(await opened.page.evaluate(`"ran" in window`)).toBe(false);
  expect(opened.noises).toEqual([]);
  expect(payloads.length).toBe(log.latestCalls.length);
});

const papers = [
  {
    name: "without a choice, faults alone are printed",
    label: null,
    count: 30,
    says: "On paper, only those that failed",
  },
  { name: "a choice is printed with its name", label: "Changed something", count: 60, says: "Changed something" },
];

test.for(papers)("on paper: $name", async ({ label, count, says }, context) => {
  const browser = browserFor(context);
  using folder = temporaryFolder();
  await using opened = await openPage(browser, page, { scheme: "dark" });
  if (label !== null) await choose(opened.page, ".by-outcome", label);
  const file = join(folder.path, "page.pdf");
  writeFileSync(file, await opened.page.pdf({ preferCSSPageSize: true }));
  const text = (await runCommand("pdftotext", ["-layout", file, "-"])).replaceAll(/\s+/g, " ");
  expect(text).toContain(`${count} of 300 calls shown`);
  expect(text).toContain(says);
  expect(text).not.toContain("Show all");
});
