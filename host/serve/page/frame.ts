/** The document around every screen, and the headers with which it is sent. */
import { counted } from "../../markup/elements.ts";
import { html, plain, styleElement } from "../../markup/markup.ts";
import type { Markup } from "../../markup/markup.ts";
import { styleSource } from "../../markup/style.ts";
import { pageRefusals } from "./page-request.ts";
import type { PageAnswer, PageRefusal, PageRequest } from "./page-request.ts";
import { menu } from "./routes.ts";
import { form } from "./screens/elements.ts";
import { doneWords } from "./screens/visit.ts";
import type { Shown, Visit } from "./screens/visit.ts";
import { pageStyle } from "./style.ts";

/**
 * No script, no picture, no other server, no frame. `same-origin` for the referrer: with `no-referrer`, browsers say of a form of
 * our own that it comes from nowhere, and such a form is refused.
 */
export const pageHeaders: Readonly<Record<string, string>> = {
  "Content-Type": "text/html; charset=utf-8",
  "Content-Security-Policy": `default-src 'none'; style-src ${styleSource(pageStyle)}; form-action 'self'; frame-ancestors 'none'; base-uri 'none'`,
  "Referrer-Policy": "same-origin",
  "X-Frame-Options": "DENY",
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Resource-Policy": "same-origin",
  "Permissions-Policy": "camera=(), display-capture=(), geolocation=(), microphone=(), payment=()",
};

/** A page without a person: somebody has to come in first, has left, or was refused. */
export function barePage(shown: Shown, headers: PageAnswer["headers"] = {}, head: Markup | null = null): PageAnswer {
  const { title, status = 200 } = shown;
  const main = html`<main id="main">
    <h1>${title}</h1>
    ${shown.body}
  </main>`;
  return { status, headers: { ...pageHeaders, ...headers }, body: documentOf(title, main, head) };
}

/** Refuses a request, on record. `more`: what is said behind the reason's own words. */
export function refusedPage(reason: PageRefusal, { record }: PageRequest, more: Markup | null = null): PageAnswer {
  record(reason);
  const { words, ...shown } = pageRefusals[reason];
  return barePage({ ...shown, body: html`${[html`<p>${words}</p>`, more]}` });
}

/** Sends the browser on. */
export const redirect = (to: string, headers: PageAnswer["headers"] = {}): PageAnswer => ({
  status: 303,
  headers: { ...pageHeaders, ...headers, Location: to },
  body: "",
});

export async function framed({ title, body }: Shown, visit: Visit, current: string): Promise<string> {
  const { person, runtime, ctx, query } = visit;
  const waiting = (await runtime.upkeep.pending(ctx).catch(() => [])).length;
  const done = doneWords[query.get("done") as keyof typeof doneWords] as string | undefined;
  return documentOf(
    title,
    html`<a class="skip" href="#main">Skip the menu</a>
      <header>
        <p>What AI assistants remember of <strong>${person.userId}</strong></p>
        ${navigation(visit, current, waiting)}
      </header>
      <main id="main">
        ${done === undefined ? null : html`<p class="done" role="status">${done}</p>`}
        <h1>${title}</h1>
        ${waiting > 0 && visit.here.length === 0 ? waitingLine(visit, waiting) : null} ${body}
      </main>
      <footer>
        ${person.mayChange ? null : html`<p>You may only look here. To change something, sign in with more rights.</p>`}
        <p>Times are in the time zone ${Intl.DateTimeFormat().resolvedOptions().timeZone}.</p>
      </footer>`,
  );
}

const waitingLine = ({ to }: Visit, waiting: number): Markup =>
  html`<p class="notice">
    ${counted(waiting, html`note waits`, html`notes wait`)} for your decision. <a href="${to(["waiting"])}">Decide</a>
  </p>`;

function navigation(visit: Visit, current: string, waiting: number): Markup {
  const links = menu.map(([name, words]) => {
    const count = name === "waiting" && waiting > 0 ? html` <span class="count">${waiting}</span>` : null;
    const address = visit.to(name === "" ? [] : [name]);
    return name === current
      ? html`<li><a href="${address}" aria-current="page">${words}${count}</a></li>`
      : html`<li><a href="${address}">${words}${count}</a></li>`;
  });
  return html`<nav aria-label="Screens">
    <ul>
      ${links}
      <li>${form(visit, ["leave"], html`<button class="link">${visit.leaving}</button>`, true)}</li>
    </ul>
  </nav>`;
}

function documentOf(title: string, content: Markup, head: Markup | null = null): string {
  return html`<!doctype html>
    <html lang="en-GB">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        ${head}
        <title>${plain(title)} – memcell</title>
        ${styleElement(pageStyle)}
      </head>
      <body>
        ${content}
      </body>
    </html> `.toString();
}
