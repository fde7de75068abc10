import type { LogSummary } from "../../audit/verify/log-summary.ts";
import type { LogFinding, LogVerification } from "../../audit/verify/log-verification.ts";
import { html } from "./markup.ts";
import type { Markup, Value } from "./markup.ts";
import { bytesShown, code, counted, facts, timeShown } from "./phrases.ts";
import { notShown } from "./table.ts";
import { verdictBox } from "./verdict.ts";

/** A log is called intact only when nothing at all was found in it. */
export function isIntact({ isIntact: isCalledSo, findings, findingsNotShown }: LogVerification): boolean {
  return isCalledSo && findings.length === 0 && findingsNotShown === 0;
}

/** Whether the log can be believed: the first thing to know of it. */
export function verificationBody(log: LogSummary): Value {
  const { verification, firstTime, lastTime } = log;
  const { head, files, bytes } = verification;
  return [
    isIntact(verification) ? intact(verification) : broken(verification),
    notes(log),
    facts([
      [html`First record`, firstTime === null ? html`none` : html`${timeShown(firstTime)} UTC`],
      [html`Last record`, lastTime === null ? html`none` : html`${timeShown(lastTime)} UTC`],
      [html`Size`, html`${counted(files, html`file`, html`files`)}, ${bytesShown(bytes)}`],
      [
        html`The chain ends`,
        head === null
          ? html`nowhere: there is no record`
          : html`with record ${head.seq}, <code class="hash">${head.hash}</code>`,
      ],
    ]),
  ];
}

function intact({ records, isEndKnown }: LogVerification): Markup {
  const unknown = html`Nothing but the log itself says where it ends: records cut from its end would not be missed.`;
  const sentence = html`${counted(records, html`record`, html`records`)}, each of them there, in its place, and as it
  was written. ${isEndKnown ? null : unknown}`;
  return verdictBox("good", html`INTACT`, sentence);
}

function broken({ findings, findingsNotShown, records }: LogVerification): Markup {
  const count = counted(findings.length + findingsNotShown, html`finding`, html`findings`);
  const sentence = html`${count} in ${records} records. What this page says of calls is what the records say that are
  there.`;
  const shown = findings.slice(0, shownMax);
  return html`${verdictBox("bad", html`NOT INTACT`, sentence)}
    <ol class="deviations">
      ${shown.map((each) => html`<li><strong class="label">${kinds[each.kind]}</strong> ${each.text}${whereFound(each)}</li> `)}
    </ol>
    ${notShown(findings.length - shown.length + findingsNotShown)}`;
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

function whereFound({ file, line }: LogFinding): Markup | null {
  if (file === null) return null;
  return html` <span class="note">${code(file)}${line === null ? null : html`, line ${line}`}</span>`;
}

function notes({ lostRecords, verification }: LogSummary): Markup | null {
  const lost = counted(lostRecords, html`record`, html`records`);
  const items = [
    ...(lostRecords > 0 ? [html`${lost} could not be written while calls went on without.`] : []),
    ...verification.notes,
  ];
  if (items.length === 0) return null;
  return html`<ul>
    ${items.map((each) => html`<li>${each}</li>`)}
  </ul>`;
}
