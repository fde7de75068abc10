import type { Right } from "../../../shared/abi.ts";
import { html } from "./markup.ts";
import type { Markup } from "./markup.ts";

/** What each right lets a tool do, for a reader who does not know the ABI. */
export const rightMeanings: Readonly<Record<Right, Markup>> = {
  read: html`Read the text of a file in the calling user’s scope, by a path inside it.`,
  list: html`See which files lie in that scope, and how large each is.`,
  write: html`Create or replace a file there. What is written takes effect only when the whole call succeeds.`,
  trash: html`Move a file there into the scope’s own <code>trash/</code>. No tool can destroy what is in it.`,
  clock: html`Learn at which time the call began. That time stands still, so nothing can be measured with it.`,
};
