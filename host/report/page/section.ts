import { html } from "./markup.ts";
import type { Markup, Value } from "./markup.ts";

/** A part of the page under a heading. Those who listen jump from heading to heading: it is no landmark of its own. */
export function section(id: string, title: Markup, body: Value): Markup {
  return html`<section id="${id}">
    <h3>${title}</h3>
    <div class="body">${body}</div>
  </section> `;
}

/** Facts with their names. */
export function facts(rows: readonly (readonly [name: Markup, fact: Markup])[]): Markup {
  return html`<dl>
    ${rows.map(
      ([name, fact]) =>
        html`<div>
          <dt>${name}</dt>
          <dd>${fact}</dd>
        </div>`,
    )}
  </dl>`;
}
