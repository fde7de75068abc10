/** Every colour has a name, and every text at least 4.5 : 1 against what is behind it. Paper is always light. */
export const colourStyle = `
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
`;
