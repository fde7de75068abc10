/** The shared stores: which ones the person reaches, and who reaches the person's own. */
import { facts } from "../../../markup/elements.ts";
import { html } from "../../../markup/markup.ts";
import type { Markup, Value } from "../../../markup/markup.ts";
import type { GrantedAccess, ReachableStore } from "../../../owner/store-access.ts";
import type { UserStores } from "../../../runtime/user-stores.ts";
import { storeIdOf } from "../../../values/ids.ts";
import { button, choice, field, fold, form, list, time } from "./elements.ts";
import { isIn, spans } from "./places.ts";
import { NothingHere } from "./visit.ts";
import type { Done, Fields, Screen, Visit } from "./visit.ts";

const levels = {
  search: html`search in it, and read what is found`,
  read: html`search and read it`,
  readwrite: html`search it, read it and write in it`,
} as const;

const ownStore = "self";
const always = "always";

export const sharing: Screen = {
  async look(visit) {
    const { runtime, ctx, person } = visit;
    const stores = runtime.stores(ctx);
    const [reached, grants] = [await stores.list(), await stores.grants()];
    const others = reached.filter(({ source }) => source !== ownStore);
    return {
      title: "Sharing",
      body: html`<p>
          You have a notebook that you can share with others. All your other notes are never shared. Give its number to
          somebody who wants to share a notebook with you. Nobody sees anything by it.
        </p>
        ${facts([[html`Number of your notebook`, html`<code>${storeIdOf(person.userId)}</code>`]])}
        <h2>Who can use your notebook</h2>
        ${list(grants, (grant) => grantItem(visit, grant), html`Nobody but you.`)} ${ownForms(visit)}
        <h2>Notebooks of others that you can use</h2>
        ${list(others, (store) => storeItem(visit, store), html`Nobody has shared a notebook with you.`)}
        ${joinForm(visit)}`,
    };
  },
};

const grantItem = (visit: Visit, { grantee, level, grantedAt, expiresAt }: GrantedAccess): Markup =>
  html`<p><code>${grantee}</code> can ${levels[level]}</p>
    <p class="note">
      Since ${time(grantedAt)}, ${expiresAt === null ? html`until you end it` : html`until ${time(expiresAt)}`}
    </p>
    ${button(visit, ["revoke", grantee], "Stop sharing", "grave")}`;

const storeItem = (visit: Visit, { id, level, source }: ReachableStore): Markup =>
  html`<p><code>${id}</code>: you can ${levels[level]}</p>
    <p class="note">
      ${source === "grant" ? html`Its owner has shared it with you` : html`By the program that you use (${source})`}
    </p>
    ${source === "grant" ? button(visit, ["quit", id], "Hide it") : null}`;

const somebody = html`Their user name, as it stands at the top of their page, or the number of their notebook`;

function ownForms(visit: Visit): Value {
  const until = Object.entries(spans).map(([name, { words }]) => [name, html`for ${words}`] as const);
  const long = choice("days", html`How long`, { [always]: html`until I end it`, ...Object.fromEntries(until) }, "week");
  const share = html`${field("who", somebody)} ${choice("level", html`They can`, levels)} ${long}`;
  const clearing = html`<p class="note">Stop sharing with them first. What they have written goes to your trash.</p>
    ${row(field("creator", somebody), html`<button class="grave">Delete</button>`)}`;
  return [
    fold(
      html`Share your notebook with somebody`,
      form(visit, ["grant"], row(share, html`<button class="main">Share</button>`)),
    ),
    fold(html`Delete what somebody has written in your notebook`, form(visit, ["clear"], clearing)),
  ];
}

function joinForm(visit: Visit): Markup | null {
  const asked = row(field("store", html`Number of the notebook`), html`<button>See it again</button>`);
  return fold(html`See a notebook again that you have hidden`, form(visit, ["join"], asked));
}

const row = (fields: Markup, submit: Markup): Markup => html`<div class="row">${fields} ${submit}</div>`;

const doing = (done: Done["done"], work: (stores: UserStores, visit: Visit) => Promise<unknown>): Screen => ({
  async act(visit) {
    await work(visit.runtime.stores(visit.ctx), visit);
    return { to: ["sharing"], done };
  },
});

const typed = (sent: Fields, name: string): string => (sent.get(name) ?? "").trim();

export const grant = doing("granted", (stores, { form: sent }) => {
  const [level, span] = [typed(sent, "level"), typed(sent, "days")];
  if (!isIn(levels, level) || !(span === always || isIn(spans, span))) throw new NothingHere();
  const expiresAt = span === always ? undefined : new Date(Date.now() + spans[span].ms);
  return stores.grant(typed(sent, "who"), { level, expiresAt });
});
export const revoke = doing("revoked", (stores, { names }) => stores.revoke(names.join("/")));
export const clear = doing("cleared", (stores, { form: sent }) => stores.clear(typed(sent, "creator")));
export const quit = doing("quit", (stores, { names }) => stores.leave(names.join("/")));
export const join = doing("joined", (stores, { form: sent }) => stores.rejoin(typed(sent, "store")));
