/** Elements that several pages have. */
import { html } from "./markup.ts";
import type { Markup } from "./markup.ts";

/** A technical name. */
export function code(name: string): Markup {
  return html`<code>${name}</code>`;
}

export function counted(count: number, one: Markup, many: Markup): Markup {
  return html`${count} ${count === 1 ? one : many}`;
}

/** Facts with their names, without those that there are none of. */
export function facts(rows: readonly (readonly [name: Markup, fact: Markup] | null)[]): Markup {
  const known = rows.filter((row) => row !== null);
  return html`<dl>
    ${known.map(
      ([name, fact]) =>
        html`<div>
          <dt>${name}</dt>
          <dd>${fact}</dd>
        </div>`,
    )}
  </dl>`;
}
