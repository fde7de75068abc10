/** A person in Chromium signs in at a real OpenID provider, does everything once, and signs out. */
import { existsSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import axe from "axe-core";
import type { AxeResults } from "axe-core";
import type { CallOrigin } from "memcell";
import { launch } from "puppeteer-core";
import type { Browser, Page } from "puppeteer-core";
import { afterAll, beforeAll, expect, test } from "vitest";

import { programFolders } from "../support/run-command.ts";
import { skipWithReason } from "../support/skip-with-reason.ts";
import { requirePackages } from "../support/system-packages.ts";
import { openSignInStage } from "./oidc.ts";
import type { SignInStage } from "./oidc.ts";
import { isOfBrowser } from "./page-browser.ts";

let stage: SignInStage;
let browser: Browser | string = "it has not been opened yet";
beforeAll(async () => {
  const reason = await requirePackages({ chromium: "chromium" });
  const executablePath = programFolders.map((each) => join(each, "chromium")).find((each) => existsSync(each));
  const args = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"];
  browser = reason ?? (await launch({ executablePath: executablePath ?? "/usr/bin/chromium", args }));
  stage = await openSignInStage();
}, 600_000);
afterAll(async () => {
  if (typeof browser !== "string") await browser.close();
  await stage[Symbol.asyncDispose]();
});

const write = async (name: string, body: string, origin?: CallOrigin): Promise<void> => {
  const input = { action: "upsert", name, type: "user", description: `What ${name} is about`, body } as const;
  await stage.runtime.call("UpdateUserMemory", input, { userId: "alice", ...(origin && { origin }) });
};

/** Sends the form with this button, and waits for the next page. */
async function press(page: Page, words: string): Promise<void> {
  const button = await page.waitForSelector(`xpath///button[normalize-space()=${JSON.stringify(words)}]`);
  await Promise.all([page.waitForNavigation(), button?.click()]);
}

async function follow(page: Page, words: string): Promise<void> {
  const link = await page.waitForSelector(`xpath///a[starts-with(normalize-space(), ${JSON.stringify(words)})]`);
  await Promise.all([page.waitForNavigation(), link?.click()]);
}

const text = (page: Page): Promise<string> =>
  page.evaluate(`document.querySelector("main").innerText`) as Promise<string>;

async function expectAccessible(page: Page): Promise<void> {
  await page.evaluate(axe.source);
  const found = (await page.evaluate(`axe.run()`)) as AxeResults;
  expect({ at: page.url(), found: found.violations.map(({ id, nodes }) => [id, nodes[0]?.html]) }).toMatchObject({
    found: [],
  });
}

async function signIn(page: Page, address: string): Promise<void> {
  await page.goto(address);
  await page.type(`input[name="login"]`, "alice");
  await page.type(`input[name="password"]`, "any");
  await Promise.all([page.waitForNavigation(), page.click(`button[type="submit"]`)]);
  await Promise.all([page.waitForNavigation(), page.click(`button[type="submit"]`)]);
}

test("sign in, list, search, edit, approve, undo, download, erase, sign out", { timeout: 120_000 }, async (context) => {
  if (typeof browser === "string") return skipWithReason(context, browser);
  await write("editor", "Uses Helix.");
  await write("garden", "Apple trees.", { class: "model_inference", run: "spring" });
  await write("payment", "The account is 1234.", { class: "tool_external", source: "https://example.com/invoice" });
  const page = await browser.newPage();
  const [noises, requested]: [string[], string[]] = [[], []];
  page.on("console", (message) => {
    if (isOfBrowser(message)) return;
    if (page.url().startsWith(stage.origin)) noises.push(`${message.text()} ${message.location().url ?? ""}`);
  });
  page.on("request", (request) => {
    // The provider's own pages load what they like.
    if (page.url().startsWith(stage.origin)) requested.push(request.url());
  });
  await signIn(page, `${stage.origin}/memory`);
  expect(page.url()).toBe(`${stage.origin}/memory`);
  expect(await text(page)).toContain("1 note waits");
  await expectAccessible(page);

  await page.type("#words", "apple");
  await press(page, "Search");
  expect(await text(page)).toContain("garden");
  await expectAccessible(page);

  await follow(page, "Memory");
  await follow(page, "editor");
  await follow(page, "Edit");
  await expectAccessible(page);
  await page.evaluate(
    `{ const area = document.querySelector("textarea"); area.value = area.value.replace("Helix", "Vim"); }`,
  );
  await press(page, "Save");
  expect(await text(page)).toContain("Uses Vim.");
  expect((await stage.runtime.upkeep.entry({ userId: "alice" }, "editor")).file).toMatchObject({ trust: "owner_edit" });
  await expectAccessible(page);

  await follow(page, "To decide");
  await follow(page, "payment");
  await expectAccessible(page);
  await press(page, "Approve");
  expect(await text(page)).toContain("Approved.");
  expect((await stage.runtime.upkeep.entry({ userId: "alice" }, "payment")).file).toMatchObject({
    trust: "owner_edit",
  });

  await follow(page, "Changes");
  await follow(page, "Task spring");
  expect(await text(page)).toContain("memory/garden.md");
  await expectAccessible(page);
  await press(page, "Undo it");
  expect(await text(page)).toContain("Undone");
  await follow(page, "Trash");
  expect(await text(page)).toContain("garden");

  const folder = await mkdtemp(join(tmpdir(), "memcell-downloads-"));
  const session = await page.createCDPSession();
  await session.send("Browser.setDownloadBehavior", { behavior: "allow", downloadPath: folder, eventsEnabled: true });
  const arrived = new Promise<void>((resolve) => {
    session.on("Browser.downloadProgress", ({ state }) => {
      if (state === "completed") resolve();
    });
  });
  await follow(page, "Your data");
  await page.click("button.main");
  await arrived;
  expect(await readdir(folder)).toEqual(["memory.zip"]);
  expect((await readFile(join(folder, "memory.zip"))).toString("latin1")).toContain("Uses Vim.");
  await rm(folder, { recursive: true });

  await follow(page, "Erase everything");
  await page.type("#name", "alice");
  await press(page, "Erase everything for good");
  await page.waitForFunction(`location.pathname === "/memory/left/erased" && document.querySelector("h1")`);
  expect(await text(page)).toContain("Nothing is kept of you here any more");
  expect(await stage.runtime.upkeep.users()).not.toContain("alice");
  // Nothing but the page and the issuer was asked for, and no script ran.
  expect(new Set(requested.map((url) => new URL(url).origin))).toEqual(new Set([stage.origin]));
  expect(noises).toEqual([]);
  await page.close();
});

test(
  "after signing out, neither the back button nor another page shows anything",
  { timeout: 120_000 },
  async (context) => {
    if (typeof browser === "string") return skipWithReason(context, browser);
    await write("secret", "heliotrope");
    const own = await browser.createBrowserContext();
    const page = await own.newPage();
    await signIn(page, `${stage.origin}/memory/entry/memory/secret.md`);
    expect(await text(page)).toContain("heliotrope");
    await press(page, "Sign out");
    await page.waitForFunction(`location.pathname === "/memory/left" && document.querySelector("h1")`);
    expect(await text(page)).toContain("Sign out of");
    await page.goBack();
    // The provider asks who it is, although it still knows who was here.
    expect(page.url().startsWith(stage.issuer)).toBe(true);
    expect(await page.content()).not.toContain("heliotrope");
    await page.goto(`${stage.origin}/memory/entry/memory/secret.md`);
    expect(await page.content()).not.toContain("heliotrope");
    await own.close();
  },
);
