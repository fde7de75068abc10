import { html } from "./markup.ts";
import type { Markup, Value } from "./markup.ts";

/** A part of an article under a heading of its own. */
export interface Section<Subject> {
  /** By which links and names find it. */
  readonly key: string;
  readonly title: Markup;
  readonly body: (subject: Subject, id: string) => Value;
}

/** Those who listen jump from heading to heading: no section is a landmark of its own. */
export function article<Subject>(
  id: string,
  heading: Value,
  subject: Subject,
  sections: readonly Section<Subject>[],
): Markup {
  const made = sections.map(
    ({ key, title, body }) =>
      html`<section id="${id}-${key}">
        <h3>${title}</h3>
        <div class="body">${body(subject, `${id}-${key}`)}</div>
      </section> `,
  );
  return html`<article id="${id}">
    <h2>${heading}</h2>
    ${made}
  </article> `;
}
