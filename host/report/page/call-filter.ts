import { html, plain } from "../../markup/markup.ts";
import type { Markup } from "../../markup/markup.ts";
/**
 * The filter of the list of calls: three choices, and style rules that hide all rows but those with the chosen classes.
 * No script takes part (`host/report/RATIONALE.md`, "Why does the report's page have no script?").
 */
import type { Facet } from "./call-facets.ts";
import type { FacetOption } from "./named-values.ts";

export function filterForm(facets: readonly Facet[]): Markup {
  return html`<form class="filter" aria-label="Which calls to show" autocomplete="off">
    ${facets.map(chooser)}<button type="reset">Show all</button>
  </form>`;
}

function chooser({ key, name, every, options, codes }: Facet): Markup {
  const failures = html`<optgroup label="Failed with">${codes.map(choice)}</optgroup>`;
  const select = html`<select class="by-${key}">
    <option class="every" selected>${every}</option>
    ${options.map(choice)}${codes.length > 0 ? failures : null}
  </select>`;
  return html`<label>${name} ${select}</label> `;
}

/** An option has only text in it, so it cannot isolate a name that is written from right to left. `dir` can. */
function choice({ className, label }: FacetOption): Markup {
  const words = typeof label === "string" ? plain(label) : label;
  return html`<option class="${className}" dir="auto">${words}</option>`;
}

/**
 * One rule for each choice. A row without the chosen class has the property `--user`, `--tool` or `--outcome`, which
 * hides it (`style.ts`). The chosen class takes the property away. `:has` is asked of the form alone: asked of an
 * element that holds the list, it would look through all rows, once for each rule.
 */
export function filterRules(facets: readonly Facet[]): string {
  const rules = facets.flatMap(({ key, options, codes }) =>
    [...options, ...codes].map(
      ({ className }) => `.filter:has(.${className}:checked)~* .${className}{--${key}:initial}`,
    ),
  );
  return `${rules.join("\n")}\n`;
}
