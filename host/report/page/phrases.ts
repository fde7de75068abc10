/** Small pieces of sentences that several sections need. */
import { html } from "./markup.ts";
import type { Markup } from "./markup.ts";

/** A name as a machine reads it. */
export function code(name: string): Markup {
  return html`<code>${name}</code>`;
}

/** Names in a row, or a word for none. */
export function codes(names: readonly string[]): Markup {
  if (names.length === 0) return html`none`;
  return html`${names.map((name, at) => (at === 0 ? code(name) : html`, ${code(name)}`))}`;
}

export function counted(count: number, one: Markup, many: Markup): Markup {
  return html`${count} ${count === 1 ? one : many}`;
}

/** What a mark means to those who do not see it. */
export function unseenWords(words: Markup): Markup {
  return html`<span class="spoken">${words}</span>`;
}
