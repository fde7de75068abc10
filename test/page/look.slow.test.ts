/** Every screen in Chromium: it fits every window, axe finds nothing, a keyboard is enough, and it reads without its style and on paper. */
import axe from "axe-core";
import type { AxeResults } from "axe-core";
import type { Page } from "puppeteer-core";
import { afterAll, expect, test } from "vitest";

import { everyScreen, fillMemory, textsOf } from "./full-memory.ts";
import { enterIn, leadingOn, useBrowser } from "./page-browser.ts";
import { openPageStage, remember } from "./page-stage.ts";
import type { ServedPage, Visitor } from "./page-stage.ts";

const openTab = useBrowser();
const stage = await openPageStage();
afterAll(() => stage[Symbol.asyncDispose]());

const longTexts = [
  "What an agent has understood of it in a conversation",
  "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft".repeat(3),
  "https://shop.example.com/a/very/long/address/that/nobody/reads?week=17&language=en&more=0123456789abcdef0123456789abcdef",
  "\u05d0\u05d1\u05d2 from right to left \u0645\u0631\u062d\u0628\u0627",
  "山田太郎は緑茶が好きです。".repeat(8),
  "\u{1f469}\u200d\u{1f680} and \u{1f1e9}\u{1f1ea}",
  "0123456789abcdef".repeat(16),
];

/** Pages of a person with as much as fits: the one of each kind, and those that only a form shows. */
async function filled(person: Visitor): Promise<string[]> {
  await fillMemory(stage, person.userId, textsOf(longTexts));
  return [...(await everyScreen(person, 3)).keys()];
}

const named = (userId: string): string => `${userId}-${"W".repeat(100)}`.slice(0, 120);

/** The same session in a browser: the link is used up by then. */
async function withSession(page: Page, { origin, base, cookie }: Visitor): Promise<void> {
  const [name = "", value = ""] = cookie.split("=");
  const path = { url: `${origin}${base}`, path: base };
  await page.browserContext().setCookie({ name, value, domain: "127.0.0.1", ...path, httpOnly: true, secure: false });
}

test("no screen is wider than its window, with long names, words and texts", async (context) => {
  await using person = await stage.visit({ userId: named("wide") });
  const paths = await filled(person);
  await using opened = await openTab(context, [person.origin]);
  const { page } = opened;
  await withSession(page, person);
  const wide: unknown[] = [];
  for (const path of paths) {
    await page.goto(`${person.origin}${path}`);
    await page.evaluate(`for (const each of document.querySelectorAll("details")) each.open = true`);
    for (const width of [320, 390, 768, 1280]) {
      await page.setViewport({ width, height: 900 });
      const beyond = (await page.evaluate(`document.scrollingElement.scrollWidth - innerWidth`)) as number;
      if (beyond > 0) wide.push({ path, width, beyond });
    }
  }
  expect(wide).toEqual([]);
  expect(paths.length).toBeGreaterThan(20);
  expect(opened.noises).toEqual([]);
});

test.for([
  { scheme: "light", width: 1280 },
  { scheme: "dark", width: 390 },
] as const)("axe finds nothing on any screen, $scheme, $width wide", async ({ scheme, width }, context) => {
  await using person = await stage.visit();
  const paths = await filled(person);
  await using opened = await openTab(context, [person.origin], { scheme, width });
  const { page } = opened;
  await withSession(page, person);
  const findings: unknown[] = [];
  const passed = new Set<string>();
  for (const path of paths) {
    await page.goto(`${person.origin}${path}`);
    await page.evaluate(`for (const each of document.querySelectorAll("details")) each.open = true`);
    await page.evaluate(axe.source);
    const found = (await page.evaluate(`axe.run()`)) as AxeResults;
    for (const { id, nodes } of found.violations)
      findings.push([path.slice(person.base.length), id, nodes[0]?.html.slice(0, 200)]);
    for (const { id } of found.passes) passed.add(id);
    const background = await page.evaluate(`getComputedStyle(document.body).backgroundColor`);
    expect(background).toBe(scheme === "light" ? "rgb(255, 255, 255)" : "rgb(18, 22, 27)");
  }
  expect(findings).toEqual([]);
  for (const each of ["color-contrast", "label", "heading-order", "landmark-one-main", "list"])
    expect(passed).toContain(each);
});

/** What a reader gets without the style: the order of headings, and what has no words. */
const outline = `(() => {
  document.querySelector("style").remove();
  for (const each of document.querySelectorAll("details")) each.open = true;
  const headings = Array.from(document.querySelectorAll("h1, h2, h3"), (each) => Number(each.localName[1]));
  const nameless = Array.from(document.querySelectorAll("input:not([type=hidden]), select, textarea"))
    .filter((each) => !Array.from(each.labels ?? []).some((label) => label.innerText.trim() !== ""));
  const mute = Array.from(document.querySelectorAll("a, button, summary")).filter((each) => each.innerText.trim() === "");
  return {
    first: headings[0],
    titles: headings.filter((level) => level === 1).length,
    skipped: headings.filter((level, at) => at > 0 && level > headings[at - 1] + 1).length,
    nameless: nameless.length,
    mute: mute.length,
    title: document.title !== "" && document.documentElement.lang === "en-GB",
    beforeMain: document.querySelector("header").compareDocumentPosition(document.querySelector("main")) === 4,
    hidden: Array.from(document.querySelectorAll("main *")).filter((each) => each.children.length === 0 && each.textContent.trim() !== "" && each.type !== "hidden" && !each.closest("select") && !each.checkVisibility()).length,
  };
})()`;

test("every screen reads without its style", async (context) => {
  await using person = await stage.visit();
  const paths = await filled(person);
  await using opened = await openTab(context, [person.origin]);
  await withSession(opened.page, person);
  for (const path of paths) {
    await opened.page.goto(`${person.origin}${path}`);
    const read = await opened.page.evaluate(outline);
    const expected = {
      first: 1,
      titles: 1,
      skipped: 0,
      nameless: 0,
      mute: 0,
      title: true,
      beforeMain: true,
      hidden: 0,
    };
    expect([path, read]).toEqual([path, expected]);
  }
});

test("a printed screen has its text and no forms, in dark letters on white", async (context) => {
  await using person = await stage.visit();
  const paths = await filled(person);
  await using opened = await openTab(context, [person.origin], { scheme: "dark" });
  const { page } = opened;
  await withSession(page, person);
  await page.emulateMediaType("print");
  for (const path of paths) {
    await page.goto(`${person.origin}${path}`);
    const left = await page.evaluate(`({
      forms: Array.from(document.querySelectorAll("form, button, nav, input, select, textarea, .button, .skip")).filter((each) => each.checkVisibility()).map((each) => each.outerHTML.slice(0, 80)),
      background: getComputedStyle(document.body).backgroundColor,
      title: document.querySelector("h1").checkVisibility(),
    })`);
    expect([path, left]).toEqual([path, { forms: [], background: "rgb(255, 255, 255)", title: true }]);
  }
});

/** Everything that can be reached with a keyboard, and what has the focus. */
const reachable = `Array.from(document.querySelectorAll("a[href], button, input:not([type=hidden]), select, textarea, summary")).filter((each) => each.checkVisibility()).length`;
const focused = `(() => {
  const each = document.activeElement;
  if (each === null || each === document.body) return null;
  const { outlineStyle, outlineWidth } = getComputedStyle(each);
  const box = each.getBoundingClientRect();
  each.dataset.at ??= String(document.querySelectorAll("[data-at]").length);
  return { at: each.dataset.at, skips: each.className === "skip", isSeen: outlineStyle !== "none" && parseFloat(outlineWidth) >= 2, isInside: box.left >= 0 && box.right <= innerWidth && box.bottom > 0 && box.top < innerHeight };
})()`;

interface Focused {
  readonly at: string;
  readonly skips: boolean;
  readonly isSeen: boolean;
  readonly isInside: boolean;
}

async function tabThrough(page: Page): Promise<Focused[]> {
  const stops: Focused[] = [];
  for (;;) {
    await page.keyboard.press("Tab");
    const stop = (await page.evaluate(focused)) as Focused | null;
    if (stop === null || stops.some(({ at }) => at === stop.at)) return stops;
    stops.push(stop);
  }
}

test("a keyboard reaches everything, in order and in sight, and passes over the navigation", async (context) => {
  await using person = await stage.visit();
  const paths = await filled(person);
  await using opened = await openTab(context, [person.origin], { width: 390 });
  const { page } = opened;
  await withSession(page, person);
  for (const path of paths) {
    await page.goto(`${person.origin}${path}`);
    const count = await page.evaluate(reachable);
    const stops = await tabThrough(page);
    expect([path, stops.length]).toEqual([path, count]);
    expect([path, stops.filter(({ isSeen, isInside }) => !isSeen || !isInside)]).toEqual([path, []]);
    expect(stops[0]?.skips).toBe(true);
  }
  await page.goto(`${person.origin}${person.base}`);
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  expect(await page.evaluate(`location.hash`)).toBe("#main");
  await page.keyboard.press("Tab");
  expect(await page.evaluate(`document.querySelector("main").contains(document.activeElement)`)).toBe(true);
});

test("a keyboard is enough to find, read, edit and confirm", async (context) => {
  await using served: ServedPage = await stage.serve();
  await remember(stage.runtime, served.userId, { origin: { class: "model_inference" } });
  await using opened = await openTab(context, [served.origin]);
  const { page } = opened;
  await enterIn(page, served);
  const until = async (words: string): Promise<void> => {
    const on = `document.activeElement.innerText?.trim() === ${JSON.stringify(words)}`;
    for (let presses = 0; (await page.evaluate(on)) !== true; presses++) {
      if (presses > 60) throw new Error(`The keyboard does not reach ${words}`);
      await page.keyboard.press("Tab");
    }
  };
  await page.focus("#words");
  await page.keyboard.type("green");
  await leadingOn(page, () => page.keyboard.press("Enter"));
  await until("tea");
  await leadingOn(page, () => page.keyboard.press("Enter"));
  await until("Yes, it is right");
  await leadingOn(page, () => page.keyboard.press("Space"));
  await until("Edit");
  await leadingOn(page, () => page.keyboard.press("Enter"));
  await page.focus("#text");
  await page.keyboard.type("x");
  await until("Save");
  await leadingOn(page, () => page.keyboard.press("Enter"));
  expect(await page.evaluate(`document.querySelector("[role=status], [role=alert]").innerText`)).toMatch(
    /Saved|Nothing was saved/,
  );
});
