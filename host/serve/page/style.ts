/**
 * The style of the page. One column of text; a list is a list on every screen, so that nothing has to be turned on a phone.
 * Without it, the page still reads from top to bottom.
 */
import { sharedStyle } from "../../markup/style.ts";

export const pageStyle = `${sharedStyle}
body { max-width: 46rem; margin: 0 auto; padding: 0 1.25rem 4rem; font-size: 1.0625rem; line-height: 1.55; }
h1 { padding: 2.25rem 0 1rem; font-size: 1.875rem; font-weight: 650; line-height: 1.2; letter-spacing: -0.015em; }
h2 { padding: 2.25rem 0 0.5rem; font-size: 1.1875rem; font-weight: 650; line-height: 1.3; }
main > * + *, form > * + *, section > * + * { margin-top: 0.9rem; }
main > h1 + *, h2 + *, nav * { margin-top: 0; }
p + .list, p + pre, dl + pre, .find + h2 { margin-top: 1.1rem; }
.find > form + form { margin-top: 0.9rem; }
p, li { text-wrap: pretty; }

.skip { position: absolute; left: -100vw; padding: 0.5rem 0.75rem; background: var(--page); }
.skip:focus { left: 0.5rem; top: 0.5rem; z-index: 1; }
body > header { padding: 1.1rem 0 0; border-bottom: 1px solid var(--rule); font-size: 0.9375rem; }
body > header > p { color: var(--quiet); }
nav ul { display: flex; flex-wrap: wrap; align-items: center; padding: 0; list-style: none; }
body > header nav ul { gap: 0 1.35rem; margin-top: 0.15rem; }
body > header nav a, button.link { display: block; padding: 0.65rem 0; color: var(--quiet); text-decoration: none; }
body > header nav a:hover, button.link:hover { color: var(--text); }
body > header nav a[aria-current="page"] { color: var(--text); font-weight: 600; box-shadow: inset 0 -2px var(--text); }
body > header nav li:last-child { margin-left: auto; }
.count { padding: 0.05rem 0.45rem; border-radius: 1rem; background: var(--text); color: var(--page); font-size: 0.8125rem; font-weight: 600; }
.paged { padding-top: 0.75rem; }
.paged ul { gap: 0.5rem 1.5rem; color: var(--quiet); }
body > footer { margin-top: 3.5rem; padding-top: 1rem; border-top: 1px solid var(--rule); color: var(--quiet); font-size: 0.875rem; }

.list { padding: 0; list-style: none; border-top: 1px solid var(--rule); }
.list > li { padding: 0.8rem 0; border-bottom: 1px solid var(--rule); }
.list a { font-weight: 600; text-decoration: none; }
.list a:hover { text-decoration: underline; }
.list .note { line-height: 1.45; }
.list form { margin-top: 0.4rem; }
.plan { padding-left: 1.2rem; }

dl > div { padding: 0.2rem 0; }
@media (min-width: 34rem) { dl > div { display: grid; grid-template-columns: 10rem minmax(0, 1fr); gap: 0 1rem; } }

pre { max-width: 100%; margin: 0; padding: 0.9rem 1rem; border: 1px solid var(--rule); border-radius: 6px; background: var(--tint); white-space: pre-wrap; overflow-wrap: anywhere; unicode-bidi: plaintext; tab-size: 4; }
pre code { font-size: 1em; }
.difference { padding: 0.6rem 0; }
.difference code > * { display: block; padding: 0 1rem; text-decoration: none; }
.difference ins { background: var(--good-tint); color: var(--good); }
.difference del { background: var(--bad-tint); color: var(--bad); }
.difference .place { color: var(--quiet); }

.done, .warning, .notice { padding: 0.7rem 1rem; border: 1px solid; border-left-width: 5px; border-radius: 6px; }
.notice { border-color: var(--strong-rule); background: var(--tint); }
.done { margin-top: 1.5rem; border-color: var(--good-rule); background: var(--good-tint); }
.warning { border-color: var(--bad-rule); background: var(--bad-tint); }
.done + h1 { padding-top: 1.25rem; }

label { display: block; font-size: 0.9375rem; color: var(--quiet); }
input:not([type="hidden"]), select, textarea { display: block; width: 100%; padding: 0.5rem 0.65rem; border: 1px solid var(--strong-rule); border-radius: 6px; background: var(--page); color: var(--text); font: inherit; font-size: 1rem; }
textarea { min-height: 18rem; font-family: ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; font-size: 0.9375rem; line-height: 1.5; resize: vertical; }
button, .button { display: inline-block; padding: 0.55rem 1rem; border: 1px solid var(--strong-rule); border-radius: 6px; background: var(--page); color: var(--text); font: inherit; font-size: 1rem; line-height: 1.4; text-decoration: none; cursor: pointer; }
button:hover, .button:hover { border-color: var(--text); }
button.main { border-color: var(--text); background: var(--text); color: var(--page); font-weight: 600; }
button.grave { border-color: var(--bad-rule); color: var(--bad); }
button.link { padding: 0.65rem 0; border: 0; background: none; font-size: inherit; line-height: inherit; }
.row { display: flex; flex-wrap: wrap; align-items: end; gap: 0.6rem 0.75rem; }
.row > * { margin: 0; }
.row > label { flex: 1 1 9rem; min-width: 0; }
details > summary { color: var(--link); cursor: pointer; }
details > * + * { margin-top: 0.75rem; }

@media (max-width: 30rem) {
  body { padding: 0 1rem 3rem; font-size: 1rem; }
  h1 { padding-top: 1.5rem; font-size: 1.5rem; }
  body > header nav ul { gap: 0 1.1rem; }
}
@media print {
  body { max-width: none; padding: 0; font-size: 10.5pt; }
  body > header nav, form, .paged, .skip, .button { display: none; }
  h1, h2 { break-after: avoid; }
  .list > li, .done, .warning, .notice { break-inside: avoid; }
  a { color: inherit; text-decoration: none; }
}
`;
