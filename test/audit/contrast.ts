/** Contrast of every text on a page, by the WCAG 2 formula. */
import type { Page } from "puppeteer-core";

export interface Contrast {
  readonly ratio: number;
  /** The text with this contrast. */
  readonly text: string;
  /** The number of texts measured. */
  readonly texts: number;
}

/** The lowest contrast of any visible text against the first opaque background behind it. */
export async function leastContrast(page: Page): Promise<Contrast> {
  return (await page.evaluate(script)) as Contrast;
}

const script = `(() => {
  const channels = (colour) => {
    const [red, green, blue, alpha = 1] = colour.match(/[\\d.]+/g).map(Number);
    return { rgb: [red, green, blue], alpha };
  };
  const luminance = ({ rgb }) => {
    const [red, green, blue] = rgb.map((value) => value / 255).map((value) => value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const backgroundOf = (element) => {
    for (let each = element; each; each = each.parentElement) {
      const background = channels(getComputedStyle(each).backgroundColor);
      if (background.alpha === 1) return background;
      if (background.alpha !== 0) throw new Error("a background that is half transparent");
    }
    return channels("rgb(255, 255, 255)");
  };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  let least = { ratio: 21, text: "" };
  let texts = 0;
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (walker.currentNode.data.trim() === "" || element.closest("svg") || !element.checkVisibility()) continue;
    texts++;
    const style = getComputedStyle(element);
    if (style.opacity !== "1" || channels(style.color).alpha !== 1) throw new Error("a text that is half transparent");
    const [light, dark] = [luminance(channels(style.color)), luminance(backgroundOf(element))].toSorted((a, b) => b - a);
    const ratio = (light + 0.05) / (dark + 0.05);
    if (ratio < least.ratio) least = { ratio, text: walker.currentNode.data.slice(0, 80) };
  }
  return { ...least, texts };
})()`;
