/** The document around every screen, and the headers with which it is sent. */
import { html, plain, styleElement } from "../../markup/markup.ts";
import type { Markup } from "../../markup/markup.ts";
import { styleSource } from "../../markup/style.ts";
import { doneWords } from "./screens/done-words.ts";
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

/** A page without a person: somebody has to come in first, or was refused. */
export const bare = ({ title, body }: Shown, head: Markup | null = null): string =>
  documentOf(
    title,
    html`<main id="main">
      <h1>${title}</h1>
      ${body}
    </main>`,
    head,
  );

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
        ${body}
      </main>
      <footer>
        ${person.mayChange ? null : html`<p>You may only look here. To change something, sign in with more rights.</p>`}
        <p>Times are in the time zone ${Intl.DateTimeFormat().resolvedOptions().timeZone}.</p>
      </footer>`,
  );
}

const screens = [
  ["", html`Memory`],
  ["waiting", html`To decide`],
  ["changes", html`Changes`],
  ["sharing", html`Sharing`],
  ["trash", html`Trash`],
  ["data", html`Your data`],
] as const;

function navigation({ to, person, leaving }: Visit, current: string, waiting: number): Markup {
  const links = screens.map(([name, words]) => {
    const count = name === "waiting" && waiting > 0 ? html` <span class="count">${waiting}</span>` : null;
    const address = to(name === "" ? [] : [name]);
    return name === current
      ? html`<li><a href="${address}" aria-current="page">${words}${count}</a></li>`
      : html`<li><a href="${address}">${words}${count}</a></li>`;
  });
  return html`<nav aria-label="Screens">
    <ul>
      ${links}
      <li>
        <form method="post" action="${to(["leave"])}">
          <input type="hidden" name="key" value="${person.formKey}" /><button class="link">${leaving}</button>
        </form>
      </li>
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
