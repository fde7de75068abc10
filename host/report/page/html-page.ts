import type { LogSummary } from "../../audit/verify/summarise-log.ts";
import { code, counted } from "../../markup/elements.ts";
import { html, plain, styleElement } from "../../markup/markup.ts";
import type { Markup, Value } from "../../markup/markup.ts";
import { styleSource } from "../../markup/style.ts";
import type { AuditReport } from "../report.ts";
import { facetsOf } from "./call-facets.ts";
import { filterRules } from "./call-filter.ts";
import { callsBody, capabilityBody, usersBody } from "./call-sections.ts";
import { contentsBody, dependenciesBody, identityBody, limitsBody, absentBody, importsBody } from "./file-sections.ts";
import { denialsBody, refusalsBody, toolsBody, verificationBody, timelineBody } from "./log-sections.ts";
import { callStyle, baseStyle, tableStyle } from "./style.ts";
import { isPass, verdictBody, verdictWord } from "./verdict.ts";

/**
 * The page of `memcell audit --html`: one file for archive and print that loads nothing and runs nothing.
 *
 * The same reports and log result in the same bytes. `log` is `null` when no log was given. All of their texts can be
 * hostile: none becomes markup or a link, and invisible characters are shown as their code points. The file's content
 * security policy forbids everything but its one style sheet. The page can contain users and paths of the log: protect
 * it like the log.
 *
 * ```ts
 * await writeFile("audit.html", htmlPage([report], null));
 * ```
 */
export function htmlPage(reports: readonly AuditReport[], log: LogSummary | null): string {
  const articles = [
    ...reports.map((report, at) => article(`p${at + 1}`, report.artifact.file, report, pluginSections)),
    log && article("log", html`Audit log`, log, logSections),
  ];
  const style = styleOf(log);
  return html`<!doctype html>
    <html lang="en-GB">
      <head>
        <meta charset="utf-8" />
        ${contentSecurityPolicy(style)}
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="referrer" content="no-referrer" />
        <title>${title(reports, log)}</title>
        ${styleElement(style)}
      </head>
      <body>
        <header>
          <h1>memcell audit</h1>
          <p>${subject(reports, log)}</p>
        </header>
        <main>${verdicts(reports, log)}${articles}</main>
        <footer>
          <p>
            This report uses only the bytes of the file, which was not run. This page loads nothing and runs nothing.
            Hidden characters in text from the plugin, the policy or the log are shown as their code points.
          </p>
        </footer>
      </body>
    </html> `.toString();
}

/** The one style sheet. With a log, it has a rule for each choice in the filter of the calls. */
function styleOf(log: LogSummary | null): string {
  const plugins = baseStyle + tableStyle;
  return log === null ? plugins : plugins + callStyle + filterRules(facetsOf(log.latestCalls));
}

/** Allows the style sheet by its hash, so any other style has no effect. */
function contentSecurityPolicy(style: string): Markup {
  return html`<meta
    http-equiv="Content-Security-Policy"
    content="default-src 'none'; style-src ${styleSource(style)}; base-uri 'none'; form-action 'none'"
  />`;
}

function title(reports: readonly AuditReport[], log: LogSummary | null): Markup {
  const isGood = reports.every(isPass) && (log === null || log.verification.isIntact);
  const file = plain(reports[0]?.artifact.file ?? "audit log");
  const more = reports.length > 1 ? html` and ${reports.length - 1} more` : null;
  return html`${isGood ? html`PASS` : html`FAIL`}: ${file}${more} – memcell audit`;
}

function subject(reports: readonly AuditReport[], log: LogSummary | null): Markup {
  if (reports.length === 0) return html`A report on an audit log`;
  const plugins = counted(reports.length, html`plugin file`, html`plugin files`);
  return log === null ? html`A report on ${plugins}` : html`A report on ${plugins} and an audit log`;
}

/** A list of the verdicts, if there is more than one. */
function verdicts(reports: readonly AuditReport[], log: LogSummary | null): Markup | null {
  if (reports.length + (log === null ? 0 : 1) < 2) return null;
  const lines = reports.map((report, at) => {
    const word = verdictWord(isPass(report), [html`PASS`, html`FAIL`]);
    return html`<li>${word} <a href="#p${at + 1}">${code(report.artifact.file)}</a></li> `;
  });
  const ofLog = log && verdictWord(log.verification.isIntact, [html`INTACT`, html`NOT INTACT`]);
  return html`<nav aria-label="Verdicts">
    <ul class="summary">
      ${lines}${ofLog && html`<li>${ofLog} <span>${linksToLog}</span></li> `}
    </ul>
  </nav> `;
}

const linksToLog = html`<a href="#log">Audit log</a>, <a href="#log-users">calls per user</a>,
  <a href="#log-calls">calls</a>`;

/** The sections of an article, each with its own heading. Links use the key. */
type Sections<Subject> = readonly (readonly [key: string, name: Markup, body: (of: Subject, id: string) => Value])[];

/** Screen reader users navigate by headings, so the sections are not landmarks. */
function article<Subject>(id: string, heading: Value, about: Subject, sections: Sections<Subject>): Markup {
  const made = sections.map(
    ([key, name, body]) =>
      html`<section id="${id}-${key}">
        <h3>${name}</h3>
        <div class="body">${body(about, `${id}-${key}`)}</div>
      </section> `,
  );
  return html`<article id="${id}">
    <h2>${heading}</h2>
    ${made}
  </article> `;
}

/** The sections about a plugin file, in the order of a reviewer's questions. */
const pluginSections: Sections<AuditReport> = [
  ["verdict", html`Verdict`, verdictBody],
  ["identity", html`Identity`, identityBody],
  ["capabilities", html`Capabilities`, capabilityBody],
  ["imports", html`Imports`, importsBody],
  ["absent", html`What it cannot do`, absentBody],
  ["contents", html`Inside the file`, contentsBody],
  ["limits", html`Limits`, limitsBody],
  ["dependencies", html`Dependencies`, dependenciesBody],
];

/** The sections about an audit log. */
const logSections: Sections<LogSummary> = [
  ["verification", html`Verification`, verificationBody],
  ["tools", html`Calls per tool`, toolsBody],
  ["users", html`Calls per user`, usersBody],
  ["timeline", html`Timeline`, timelineBody],
  ["denials", html`Denials`, denialsBody],
  ["refusals", html`Refused requests`, refusalsBody],
  ["calls", html`Calls`, callsBody],
];
