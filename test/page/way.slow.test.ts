/** A person's way through all screens of `memcell open`, as a program of its own that hands its page to a browser. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { pathToFileURL } from "node:url";

import { createRuntime } from "memcell";
import type { Page } from "puppeteer-core";
import { expect, test } from "vitest";

import { program } from "../stage/serve-lines.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { shippedFlags, shippedNames } from "../support/test-plugin.ts";
import { fillMemory, textsOf } from "./full-memory.ts";
import { leadingOn, useBrowser, wordsOn } from "./page-browser.ts";

const openTab = useBrowser();

/** `memcell open`, with a program in place of the one that would start a browser. */
async function openedBy(folder: string, dataDir: string) {
  const [programs, told] = [join(folder, "programs"), join(folder, "told")];
  mkdirSync(programs);
  writeFileSync(
    join(programs, "xdg-open"),
    `#!/bin/sh\nprintf '%s\\n' "$#" "$@" > "${told}.new"; mv "${told}.new" "${told}"\n`,
    { mode: 0o755 },
  );
  const env = {
    ...process.env,
    BROWSER: "/bin/false",
    TMPDIR: folder,
    PATH: `${programs}${delimiter}${process.env["PATH"]}`,
  };
  const child = spawn(process.execPath, [program, "open", "--user", "alice", "--data", dataDir, ...shippedFlags()], {
    env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const lines: string[] = [];
  const closed = once(child, "close") as Promise<[code: number | null]>;
  const problem = text(child.stderr);
  for await (const line of createInterface({ input: child.stdout })) {
    lines.push(line);
    if (line.includes("Ctrl-C")) break;
  }
  const file = lines.find((line) => line.endsWith(".html"));
  if (file === undefined) throw new Error(await problem);
  child.stdout.on("data", (more: Buffer) => lines.push(more.toString().trimEnd()));
  child.stdout.resume();
  return { child, lines, told, file, closed };
}

async function withMemory(): Promise<AsyncDisposable & { readonly path: string; readonly dataDir: string }> {
  const folder = temporaryFolder();
  const dataDir = join(folder.path, "data");
  const runtime = await createRuntime({ dataDir, plugins: shippedNames() });
  await fillMemory({ runtime, dataDir }, "alice", textsOf(["What is known of tea", "Green tea, no sugar"]));
  await runtime.close();
  return { path: folder.path, dataDir, [Symbol.asyncDispose]: async () => folder[Symbol.dispose]() };
}

/** Follows a link, or presses a button, by the words that a person sees. */
async function press(page: Page, words: string): Promise<void> {
  const found = `Array.from(document.querySelectorAll("main a, main button, nav a, nav button")).find((each) => each.textContent.replace(/\\s+/g, " ").trim() === ${JSON.stringify(words)})`;
  const handle = (await page.evaluateHandle(found)).asElement();
  if (handle === null) throw new Error(`There is no ${words} in: ${await wordsOn(page)}`);
  await leadingOn(page, () => (handle as unknown as { click(): Promise<void> }).click());
}

test("a person reads, decides, corrects, takes back, shares, downloads and erases", async (context) => {
  await using memory = await withMemory();
  await using opened = await openTab(context);
  const { page } = opened;
  const { child, file, lines, told, closed } = await openedBy(memory.path, memory.dataDir);
  try {
    // Nobody else can read the file, and what others see of the browser's start is its name alone.
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(statSync(dirname(file)).mode & 0o777).toBe(0o700);
    const [token = ""] = /(?<=\/open\/)[\w-]{43}/.exec(readFileSync(file, "utf8")) ?? [];
    expect(token).toHaveLength(43);
    while (!existsSync(told)) await new Promise((resolve) => setImmediate(resolve));
    expect(readFileSync(told, "utf8")).toBe(`1\n${file}\n`);
    expect(readFileSync(`/proc/${child.pid}/cmdline`, "utf8") + lines.join()).not.toContain(token);

    const arrived = page.waitForResponse((response) => /\/m\/[0-9a-f]{32}$/.test(response.url()));
    await page.goto(pathToFileURL(file).href);
    await arrived;
    await page.waitForSelector("main h1");
    expect(page.url()).not.toContain(token);
    expect(await wordsOn(page)).toContain("What AI assistants remember of alice");

    await page.type("#words", "sugar");
    await press(page, "Search");
    expect(await wordsOn(page)).toContain("with sugar");
    await press(page, "Memory");
    await page.select("#from", "me");
    await press(page, "Show");
    expect(await wordsOn(page)).toContain("told by you");

    await press(page, "Memory");
    await press(page, "tea");
    await press(page, "Edit");
    await page.focus("#text");
    await page.keyboard.down("Control");
    await page.keyboard.press("End");
    await page.keyboard.up("Control");
    await page.keyboard.type("With milk.");
    await press(page, "Save");
    expect(await wordsOn(page)).toContain("Saved. The text before is below.");
    expect(readFileSync(join(memory.dataDir, "users", "alice", "memory", "tea.md"), "utf8")).toMatch(
      /Green tea, no sugar\nWith milk\.$|What is known of tea\nWith milk\.$/,
    );

    await press(page, "To decide 2");
    await press(page, "offer");
    await press(page, "Correct it first");
    await press(page, "Approve this text");
    expect(await wordsOn(page)).toContain("Approved. It counts as your own words now.");
    await press(page, "tea");
    await press(page, "Reject");
    expect(await wordsOn(page)).toContain("Nothing waits now.");

    await press(page, "Changes");
    await press(page, "the last 60 minutes");
    expect(await wordsOn(page)).toContain("These go to the trash");
    await press(page, "Trash");
    await press(page, "Put back");
    expect(await wordsOn(page)).toContain("Put back.");
    await press(page, "Sharing");
    await press(page, "Stop sharing");
    expect(await wordsOn(page)).toContain("Nobody but you.");
    await page.evaluate(`document.querySelector("details").open = true`);
    await page.type("#who", "dora");
    await press(page, "Share");
    expect(await wordsOn(page)).toContain("can search in it");

    await press(page, "Your data");
    const downloads = join(memory.path, "downloads");
    mkdirSync(downloads);
    const { id: profile } = page.browserContext();
    const session = await page.createCDPSession();
    await session.send("Browser.setDownloadBehavior", {
      behavior: "allow",
      downloadPath: downloads,
      eventsEnabled: true,
      ...(profile !== undefined && { browserContextId: profile }),
    });
    const done = new Promise<void>((resolve) => {
      session.on("Browser.downloadProgress", ({ state }) => void (state === "completed" && resolve()));
    });
    await page.click("main button");
    await done;
    expect(readdirSync(downloads)).toEqual(["memory.zip"]);
    expect(readFileSync(join(downloads, "memory.zip")).subarray(0, 2).toString()).toBe("PK");

    await press(page, "Look for problems");
    await press(page, "Your data");
    await press(page, "Erase everything…");
    await page.type("#name", "alice");
    await press(page, "Erase everything for good");
    await page.waitForFunction(`location.pathname.endsWith("/left/erased") && document.querySelector("h1")`);
    expect(await wordsOn(page)).toContain("Nothing is kept of you here any more");
    expect((await closed)[0]).toBe(0);
    expect(lines.at(-1)).toBe("Closed");
    expect(existsSync(dirname(file))).toBe(false);
    expect(readdirSync(join(memory.dataDir, "users"))).toEqual([]);
  } finally {
    child.kill();
    await closed;
  }
  expect(
    opened.noises.filter(
      (noise) => !noise.startsWith("request: http://127.0.0.1:") && !noise.startsWith("request: file:"),
    ),
  ).toEqual([]);
});

test("closing ends the program, and the way back shows nothing", async (context) => {
  await using memory = await withMemory();
  await using opened = await openTab(context);
  const { page } = opened;
  const { child, file, closed } = await openedBy(memory.path, memory.dataDir);
  try {
    const arrived = page.waitForResponse((response) => /\/m\/[0-9a-f]{32}$/.test(response.url()));
    await page.goto(pathToFileURL(file).href);
    await arrived;
    await page.waitForSelector("main h1");
    await press(page, "tea");
    const entry = page.url();
    await press(page, "Close this page");
    await page.waitForFunction(`location.pathname.endsWith("/left") && document.querySelector("h1")`);
    expect(await wordsOn(page)).toContain("To open the page again, use memcell open.");
    expect((await closed)[0]).toBe(0);
    await page.goBack();
    // The browser's own page, which says that nothing answers.
    await page.waitForSelector("#main-frame-error");
    expect(await wordsOn(page)).not.toContain("tea");
    await expect(page.goto(entry)).rejects.toThrow("ERR_CONNECTION_REFUSED");
  } finally {
    child.kill();
    await closed;
  }
});
