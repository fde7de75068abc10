import { html } from "./markup.ts";
import type { Markup } from "./markup.ts";

const marks = { good: html`<span aria-hidden="true">✓</span>`, bad: html`<span aria-hidden="true">✕</span>` };

/** A verdict in a line. It has a mark and a word: none is told by colour alone. */
export function verdictWord(isGood: boolean, [good, bad]: readonly [good: Markup, bad: Markup]): Markup {
  if (isGood) return html`<strong class="good">${marks.good} ${good}</strong>`;
  return html`<strong class="bad">${marks.bad} ${bad}</strong>`;
}

/** A verdict in a box, with a sentence. */
export function verdictBox(kind: "good" | "bad", word: Markup, sentence: Markup): Markup {
  return html`<div class="verdict ${kind === "good" ? "pass" : "fail"}">
    <p class="word">${marks[kind]} ${word}</p>
    <p>${sentence}</p>
  </div>`;
}
