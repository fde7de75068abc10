/**
 * The rules that all pages share: colours, type, what the markup of a text needs. It refers to no font, picture or other
 * file. Every text has a contrast of at least 4.5 : 1; paper is always light.
 */
import { createHash } from "node:crypto";

export const sharedStyle = `
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
*, *::before, *::after { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
body { background: var(--page); color: var(--text); font-family: system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Helvetica Neue", Arial, sans-serif; overflow-wrap: break-word; }
code, pre, .hash { font: 0.875em/1.5 ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", "Liberation Mono", monospace; font-weight: inherit; }
h1, h2, h3, p, ul, ol, dl, dd, figure { margin: 0; }
a { color: var(--link); }
:is(a, summary, select, button, input, textarea):focus-visible { outline: 2px solid var(--link); outline-offset: 3px; }
dt, .quiet, .note, .cut { color: var(--quiet); }
.good { color: var(--good); }
.bad { color: var(--bad); }
.note { font-size: 0.875em; }
.cut { font-style: italic; }
.unseen { padding: 0 0.2em; border: 1px solid var(--strong-rule); border-radius: 2px; font-size: max(0.8em, 0.6875rem); white-space: nowrap; }
.spoken { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
`;

/** The source of a `Content-Security-Policy` that allows a style sheet, and no other. */
export const styleSource = (css: string): string => `'sha256-${createHash("sha256").update(css).digest("base64")}'`;
