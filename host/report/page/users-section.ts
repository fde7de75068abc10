import type { LogSummary } from "../../audit/verify/log-summary.ts";
import { changesShown } from "./changes.ts";
import { html } from "./markup.ts";
import type { Markup, Value } from "./markup.ts";
import { counted, notShown, timeShown } from "./phrases.ts";
import { number, table, text } from "./table.ts";

/** What each user's calls came to. */
export function usersBody({ callsByUser, usersNotShown }: LogSummary, id: string): Value {
  if (callsByUser.length === 0) return html`<p>The log has no calls, and no requests were refused.</p>`;
  const users = counted(callsByUser.length + usersNotShown, html`user`, html`users`);
  const sums = table({
    id: `${id}-sums`,
    caption: html`${users}: those with denials or refused requests first, then those with failed calls. Times are UTC.`,
    stacksAtRem: 62,
    columns: [
      text`User`,
      number`Calls`,
      number`Failed`,
      number`Denials`,
      number`Refused`,
      text`Changed`,
      text`First`,
      text`Last`,
    ],
    rows: callsByUser.map((user) => [
      user.userId ?? noUser,
      user.calls,
      ...[user.failed, user.denials, user.refused].map(faultsShown),
      changesShown(user) ?? html`<span class="quiet">nothing</span>`,
      timeShown(user.firstTime),
      timeShown(user.lastTime),
    ]),
  });
  return [sums, notShown(usersNotShown)];
}

export const noUser: Markup = html`<span class="quiet">no valid user id</span>`;

const faultsShown = (count: number): Markup =>
  count === 0 ? html`<span class="quiet">0</span>` : html`<strong>${count}</strong>`;
