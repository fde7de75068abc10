import type { LogSummary } from "../../audit/verify/log-summary.ts";
import type { LogFinding, LogVerification } from "../../audit/verify/log-verification.ts";
import { html } from "./markup.ts";
import type { Markup } from "./markup.ts";
import { code, counted } from "./phrases.ts";
import { bytesShown, timeShown } from "./quantities.ts";
import { facts, section } from "./section.ts";
import { notShown } from "./table.ts";

/** A log is called intact only when nothing at all was found in it. */
export function isIntact({ isIntact: isCalledSo, findings, findingsNotShown }: LogVerification): boolean {
  return isCalledSo && findings.length === 0 && findingsNotShown === 0;
}

/** Whether the log can be believed: the first thing to know of it. */
export function verificationSection(log: LogSummary, id: string): Markup {
  const { verification } = log;
  return section(id, html`Verification`, [
    isIntact(verification) ? intact(verification) : broken(verification),
    notes(log),
    facts([
      [html`First record`, log.firstTime === null ? html`none` : html`${timeShown(log.firstTime)} UTC`],
      [html`Last record`, log.lastTime === null ? html`none` : html`${timeShown(log.lastTime)} UTC`],
      [html`Size`, html`${counted(verification.files, html`file`, html`files`)}, ${bytesShown(verification.bytes)}`],
      [html`The chain ends`, chainEnd(verification)],
    ]),
  ]);
}

function intact({ records, isEndKnown }: LogVerification): Markup {
  return html`<div class="verdict pass">
    <p class="word"><span aria-hidden="true">✓</span> INTACT</p>
    <p>
      ${counted(records, html`record`, html`records`)}, each of them there, in its place, and as it was written.
      ${isEndKnown ? null : html`Nothing but the log itself says where it ends: records cut from its end would not be missed.`}
    </p>
  </div>`;
}

function broken({ findings, findingsNotShown, records }: LogVerification): Markup {
  return html`<div class="verdict fail">
      <p class="word"><span aria-hidden="true">✕</span> NOT INTACT</p>
      <p>
        ${counted(findings.length + findingsNotShown, html`finding`, html`findings`)} in ${records} records. What this
        page says of calls is what the records say that are there.
      </p>
    </div>
    <ol class="deviations">
      ${findings.slice(0, shownMax).map((each) => html`<li><strong class="label">${kinds[each.kind]}</strong> ${each.text}${place(each)}</li> `)}
    </ol>
    ${notShown(Math.max(findings.length - shownMax, 0) + findingsNotShown)}`;
}

/** As many as say what kind of thing has happened; `memcell audit verify` names all. */
const shownMax = 50;

const kinds: Readonly<Record<LogFinding["kind"], Markup>> = {
  removed: html`Removed`,
  altered: html`Altered`,
  unreadable: html`Unreadable`,
  displaced: html`Displaced`,
  torn: html`Torn`,
  head: html`End of the log`,
};

function place({ file, line }: LogFinding): Markup | null {
  if (file === null) return null;
  return html` <span class="note">${code(file)}${line === null ? null : html`, line ${line}`}</span>`;
}

function notes({ lostRecords, verification }: LogSummary): Markup | null {
  const lost = counted(lostRecords, html`record`, html`records`);
  const told = [
    ...(lostRecords > 0 ? [html`<li>${lost} could not be written while calls went on without.</li>`] : []),
    ...verification.notes.map((note) => html`<li>${note}</li>`),
  ];
  return told.length > 0
    ? html`<ul>
        ${told}
      </ul>`
    : null;
}

function chainEnd({ head }: LogVerification): Markup {
  if (head === null) return html`nowhere: there is no record`;
  return html`with record ${head.seq}, <code class="hash">${head.hash}</code>`;
}
