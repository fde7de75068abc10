/** What the screens have in common: forms, times, where a text comes from, long lists. */
import { isAtLeast } from "../../../../shared/origin.ts";
import { html } from "../../../markup/markup.ts";
import type { Markup, Value } from "../../../markup/markup.ts";
import { originWords } from "../../../owner/origin-words.ts";
import type { ToldOrigin } from "../../../owner/origin-words.ts";
import { shownTime } from "../../../owner/told.ts";
import type { Visit } from "./visit.ts";

/** A form that does something. For a person who may only look, nothing. */
export function form(
  { person, to }: Visit,
  names: readonly string[],
  content: Value,
  isReading = false,
): Markup | null {
  if (!person.mayChange && !isReading) return null;
  return html`<form method="post" action="${to(names)}">
    <input type="hidden" name="key" value="${person.formKey}" />${content}
  </form>`;
}

/** A form that is one button. `kind`: `main` for what is usually wanted, `grave` for what takes something away. */
export const button = (
  visit: Visit,
  names: readonly string[],
  words: string,
  kind: "main" | "grave" | "plain" = "plain",
) => form(visit, names, html`<button class="${kind}">${words}</button>`);

/** What is shown on demand; nothing without content. */
export const fold = (summary: Markup, content: Markup | null): Markup | null =>
  content &&
  html`<details>
    <summary>${summary}</summary>
    ${content}
  </details>`;

/** A hidden field. The text comes back as it is. */
export const kept = (name: "sha" | "plan" | "since", text: string): Markup =>
  html`<input type="hidden" name="${name}" value="${text}" />`;

/** A field of one line that a person fills in. */
export const field = (name: string, label: Value): Markup =>
  html`<label for="${name}"
    >${label}<input id="${name}" name="${name}" required maxlength="200" autocomplete="off"
  /></label>`;

/** A choice between closed words. */
export function choice(name: string, label: Value, words: Readonly<Record<string, Value>>, chosen = ""): Markup {
  const options = Object.entries(words).map(([value, of]) =>
    value === chosen
      ? html`<option value="${value}" selected>${of}</option>`
      : html`<option value="${value}">${of}</option>`,
  );
  return html`<label for="${name}"
    >${label}<select id="${name}" name="${name}">
      ${options}
    </select></label
  >`;
}

/** Why something was not done. */
export const alert = (words: Value): Markup => html`<p class="warning" role="alert">${words}</p>`;

/** A link to another screen, below what this one is about. */
export const linkTo = ({ to }: Visit, names: readonly string[], words: Value): Markup =>
  html`<p class="note"><a href="${to(names)}">${words}</a></p>`;

export const points = (lines: readonly Value[]): Markup =>
  html`<ul class="plan">
    ${lines.map((line) => html`<li>${line}</li>`)}
  </ul>`;

export const time = (at: Date): Markup => html`<time datetime="${at.toISOString()}">${shownTime(at)}</time>`;

/** When a text was written, and where it comes from. */
export const changed = ({ at, ...told }: ToldOrigin & { readonly at: Date | null }): Markup =>
  html`${at && [time(at), ", "]}${origin(told)}`;

/** Where a text comes from. What was not approved stands out. */
export function origin(told: ToldOrigin): Markup {
  const words = originWords(told);
  return isAtLeast(told.trust, "unstated") ? html`${words}` : html`<strong class="bad">${words}</strong>`;
}

const perPage = 50;

/** The words of the address by which a long list is paged. */
export const pagedQuery = { page: /^[1-9]\d{0,4}$/ };

/** The items of a list, or what is said if there are none. */
export const list = <Item>(items: readonly Item[], show: (item: Item) => Value, empty: Value): Markup =>
  items.length === 0
    ? html`<p>${empty}</p>`
    : html`<ul class="list">
        ${items.map((item) => html`<li>${show(item)}</li>`)}
      </ul>`;

/** A page of a long list, and links to the others. */
export function paged<Item>(
  { to, here, query }: Visit,
  items: readonly Item[],
  show: (item: Item) => Value,
  empty: Value,
): Markup {
  const last = Math.max(1, Math.ceil(items.length / perPage));
  const page = Math.min(Number(query.get("page") ?? 1), last);
  const first = (page - 1) * perPage;
  const shown = items.slice(first, first + perPage);
  if (last === 1) return list(shown, show, empty);
  const { page: _page, done: _done, ...others } = Object.fromEntries(query);
  const link = (other: number, words: Markup): Markup | null =>
    other < 1 || other > last
      ? null
      : html`<li><a href="${to(here, { ...others, page: String(other) })}">${words}</a></li>`;
  return html`${list(shown, show, empty)}
    <nav aria-label="Parts of the list" class="paged">
      <ul>
        ${link(page - 1, html`Before`)}
        <li>${first + 1} to ${first + shown.length} of ${items.length}</li>
        ${link(page + 1, html`More`)}
      </ul>
    </nav>`;
}
