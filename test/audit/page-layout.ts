/**
 * How a page is laid out in a browser: what is beyond its edges, what is cut off, and which words are broken. Of all
 * faults but these the first five.
 */
import type { Page } from "puppeteer-core";

export interface PageLayout {
  /** By how many pixels the page is wider than the window. */
  readonly overflow: number;
  /** Elements that reach beyond the window. */
  readonly beyond: readonly string[];
  /** Elements that hide a part of their content. */
  readonly cut: readonly string[];
  /** Words that continue in the next line. */
  readonly broken: readonly string[];
  /** Texts that lie over each other. */
  readonly covered: readonly string[];
  /** How many words were measured. */
  readonly words: number;
  readonly smallestPx: number;
}

export async function measureLayout(page: Page): Promise<PageLayout> {
  return (await page.evaluate(script)) as PageLayout;
}

/** A word is a run of letters and digits in one text node. `<wbr>` ends a node. */
const script = `(() => {
  const shownOf = (element) => element.outerHTML.replace(/\\s+/g, " ").slice(0, 160);
  const some = (faults) => faults.slice(0, 5);
  const isUnseen = (element) => element.closest(".spoken, svg, select") !== null || getComputedStyle(element).clipPath !== "none";
  const elements = Array.from(document.body.querySelectorAll("*")).filter((each) => each.checkVisibility() && !isUnseen(each) && !isUnseen(each.closest("thead") ?? each));
  const beyond = elements.filter((each) => {
    const { left, right, width } = each.getBoundingClientRect();
    return width > 0 && (left < -0.5 || right > innerWidth + 0.5);
  });
  const cut = elements.filter((each) => {
    const { overflowX, overflowY, display } = getComputedStyle(each);
    if (display === "inline") return false;
    return (overflowX !== "visible" && each.scrollWidth > each.clientWidth + 1) || (overflowY !== "visible" && each.scrollHeight > each.clientHeight + 1) || each.scrollWidth > Math.max(each.clientWidth, 1) + 1;
  });
  const range = document.createRange();
  const broken = [];
  const covered = [];
  const rows = new Map();
  let words = 0;
  let smallestPx = Infinity;
  for (const element of elements) {
    for (const node of element.childNodes) {
      if (node.nodeType !== Node.TEXT_NODE) continue;
      for (const { 0: word, index } of node.data.matchAll(/[\\p{L}\\p{M}\\p{N}]+/gu)) {
        words++;
        smallestPx = Math.min(smallestPx, parseFloat(getComputedStyle(element).fontSize));
        range.setStart(node, index);
        range.setEnd(node, index + word.length);
        const rects = Array.from(range.getClientRects()).filter(({ width }) => width > 0);
        if (Math.max(...rects.map(({ top }) => top)) - Math.min(...rects.map(({ top }) => top)) > 4) broken.push(word + " in " + shownOf(element));
        const cell = element.closest("th, td, dt, dd");
        const row = cell?.parentElement ?? null;
        if (row) rows.set(row, [...(rows.get(row) ?? []), ...rects.map((rect) => ({ cell, rect }))]);
        if (rects.some(({ left, right }) => left < -0.5 || right > innerWidth + 0.5)) beyond.push(element);
      }
    }
  }
  for (const [row, rects] of rows) {
    const lies = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 2;
    if (rects.some(({ cell, rect }, at) => rects.slice(0, at).some((other) => other.cell !== cell && lies(other.rect, rect)))) covered.push(shownOf(row));
  }
  return { overflow: document.scrollingElement.scrollWidth - innerWidth, beyond: some(beyond.map(shownOf)), cut: some(cut.map(shownOf)), broken, covered: some(covered), words, smallestPx };
})()`;
