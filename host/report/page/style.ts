/**
 * The page's style sheet, except for tables. It refers to no font, picture or other file.
 *
 * Colours: every text has a contrast of at least 4.5 : 1; paper is always light. Words: a line ends between words, and
 * within a long one only where `break-points.ts` allows it. The timeline: the bars fill the page's width, but the words
 * keep their size. On paper: A4, black on white, numbered sheets, no row split, headings kept with their content.
 */
export const baseStyle = `
:root {
  color-scheme: light;
  --page: #ffffff; --tint: #f5f7f9; --text: #1a1f26; --quiet: #57606b; --rule: #d5dbe1; --strong-rule: #8a949f;
  --good: #0f5c2e; --good-tint: #eef8f1; --good-rule: #2a8a4f;
  --bad: #9b1c1c; --bad-tint: #fdf1f0; --bad-rule: #c9403a;
  --link: #0b4fa3; --bar: #48698f;
}
@media screen and (prefers-color-scheme: dark) {
  :root {
    color-scheme: dark;
    --page: #12161b; --tint: #1a2027; --text: #e3e8ed; --quiet: #9aa6b2; --rule: #313a44; --strong-rule: #66727f;
    --good: #7ddb9f; --good-tint: #14261c; --good-rule: #3f9a62;
    --bad: #ff9d94; --bad-tint: #2b1817; --bad-rule: #d3574f;
    --link: #83b8f7; --bar: #7f9fc4;
  }
}
.quiet, .note { color: var(--quiet); }
.good { color: var(--good); }
.bad { color: var(--bad); }

*, *::before, *::after { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
body {
  max-width: 66rem; margin: 0 auto; padding: 2.5rem 1.5rem 4rem; background: var(--page); color: var(--text);
  font: 0.9375rem/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Helvetica Neue", Arial, sans-serif;
  overflow-wrap: break-word; word-break: keep-all;
}
h1, h2, h3, p, ul, ol, dl, dd, figure { margin: 0; }
code, .hash { font: 0.875em/1.5 ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", "Liberation Mono", monospace; font-weight: inherit; }
a { color: var(--link); }
a:focus-visible, summary:focus-visible, select:focus-visible, button:focus-visible { outline: 2px solid var(--link); outline-offset: 3px; }

body > header { display: flex; flex-wrap: wrap; justify-content: space-between; gap: 0.25rem 2rem; color: var(--quiet); }
h1 { font-size: 0.9375rem; font-weight: 600; color: var(--text); }
h2 { padding: 2rem 0 1.25rem; font-size: 2rem; font-weight: 650; line-height: 1.2; letter-spacing: -0.015em; }
h3 { font-size: 0.9375rem; font-weight: 650; line-height: 1.4; }
article + article { margin-top: 2rem; border-top: 3px solid var(--text); }

section { padding: 1.5rem 0 2rem; border-top: 1px solid var(--rule); }
.body { container-type: inline-size; }
.body > * + * { margin-top: 1rem; }
.body > p, .body > ul, .body > ol { max-width: 44rem; }
@media (min-width: 56rem) {
  section { display: grid; grid-template-columns: 10.5rem minmax(0, 1fr); column-gap: 2rem; }
}
@media (max-width: 56rem) {
  h3 { padding-bottom: 0.75rem; font-size: 1.0625rem; }
}
@media (max-width: 30rem) {
  body { padding: 1.25rem 1rem 3rem; }
  h2 { padding: 1.5rem 0 1rem; font-size: 1.5rem; }
}

.note { font-size: 0.875em; }
.spoken { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.unseen { padding: 0 0.2em; border: 1px solid var(--strong-rule); border-radius: 2px; font-size: max(0.8em, 0.6875rem); white-space: nowrap; }
.cut { color: var(--quiet); font-style: italic; }

.verdict { padding: 0.9rem 1.1rem 1rem; border: 1px solid; border-left-width: 6px; border-radius: 3px; }
.verdict .word { font-size: 1.5rem; font-weight: 700; line-height: 1.3; letter-spacing: 0.02em; }
.verdict.pass { border-color: var(--good-rule); background: var(--good-tint); }
.verdict.pass .word { color: var(--good); }
.verdict.fail { border-color: var(--bad-rule); background: var(--bad-tint); }
.verdict.fail .word { color: var(--bad); }
.deviations { padding-left: 1.6rem; }
.deviations li + li { margin-top: 0.6rem; }
.deviations li::marker { color: var(--quiet); font-variant-numeric: tabular-nums; }
.label { display: block; color: var(--bad); font-size: 0.875em; }
.absent { padding-left: 1.2rem; }
.absent li + li { margin-top: 0.25rem; }
.summary { display: grid; gap: 0.35rem; margin: 1.5rem 0 0; padding: 1rem 0 0; border-top: 1px solid var(--rule); list-style: none; }
.summary strong { display: inline-block; min-width: 8.5rem; }

dl > div { padding: 0.25rem 0; }
dl > div:first-child { padding-top: 0; }
dt { color: var(--quiet); }
@container (min-width: 40rem) {
  dl > div { display: grid; grid-template-columns: minmax(12.5rem, 29%) minmax(0, 1fr); }
}
.hash span { display: inline-block; }

body > footer { padding-top: 1.25rem; border-top: 1px solid var(--rule); color: var(--quiet); font-size: 0.8125rem; }
body > footer p { max-width: 48rem; }

.body > h4 { margin-top: 1.75rem; }
h4 { margin: 0; font-size: inherit; font-weight: 600; }
.body > h4 + dl { margin-top: 0.35rem; }
.legend { display: flex; flex-wrap: wrap; gap: 0.2rem 1.5rem; margin-top: 0.5rem; }

figcaption { margin-bottom: 0.75rem; color: var(--quiet); }
.lane + .lane { margin-top: 1rem; }
.lane svg { display: block; width: 100%; height: 5.5rem; margin-top: 0.25rem; border-bottom: 1px solid var(--strong-rule); background: var(--tint); }
.lane.failed svg, .lane.denials svg, .lane.refused svg { height: 2.75rem; }
.lane rect { fill: var(--bar); }
.lane.failed rect, .lane.refused rect { fill: var(--quiet); }
.lane.denials rect { fill: var(--bad-rule); }
.axis { display: flex; flex-wrap: wrap; justify-content: space-between; gap: 0 1rem; margin-top: 0.35rem; color: var(--quiet); font-size: 0.875em; }
.axis > span { min-width: 0; }
.axis > span:last-child { margin-left: auto; }
summary { color: var(--link); cursor: pointer; }

@page {
  size: A4; margin: 16mm 16mm 18mm;
  @bottom-left { content: "memcell audit"; font: 8pt system-ui, sans-serif; color: #57606b; }
  @bottom-right { content: counter(page) " of " counter(pages); font: 8pt system-ui, sans-serif; color: #57606b; }
}
@media print {
  body { max-width: none; padding: 0; font-size: 9.5pt; line-height: 1.45; }
  h1, h3 { font-size: 10pt; }
  h2 { padding: 5mm 0 4mm; font-size: 18pt; }
  section { display: block; padding: 4mm 0 5mm; }
  h3 { padding-bottom: 2mm; font-size: 11.5pt; }
  h2, h3, h4, figcaption { break-after: avoid; }
  li, dl > div, .short, .verdict, figure, .lane { break-inside: avoid; }
  article + article { break-before: page; margin-top: 0; border-top: 0; }
  .verdict, .lane svg, .lane rect { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  a { color: inherit; text-decoration: none; }
  details { display: none; }
}
`;
