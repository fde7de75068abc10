/** The shared stores: which ones the person reaches, and who reaches the person's own. */
import { facts } from "../../../markup/elements.ts";
import { html } from "../../../markup/markup.ts";
import type { Markup } from "../../../markup/markup.ts";
import type { GrantedAccess, ReachableStore } from "../../../owner/store-access.ts";
import { storeIdOf } from "../../../values/ids.ts";
import { button, choice, field, form, list, time } from "./elements.ts";
import { isIn } from "./places.ts";
import { NothingHere } from "./visit.ts";
import type { Screen, Visit } from "./visit.ts";

const levels = {
  search: html`search in it`,
  read: html`search and read it`,
  readwrite: html`search it, read it and write in it`,
} as const;
const days = {
  always: { words: html`until I end it`, count: null },
  day: { words: html`for a day`, count: 1 },
  week: { words: html`for 7 days`, count: 7 },
  month: { words: html`for 30 days`, count: 30 },
} as const;

const ownStore = "self";

export const sharing: Screen = {
  async look(visit) {
    const { runtime, ctx, person } = visit;
    const stores = runtime.stores(ctx);
    const [reached, grants] = [await stores.list(), await stores.grants()];
    const others = reached.filter(({ source }) => source !== ownStore);
    return {
      title: "Sharing",
      body: html`<p>
          You have a notebook that you can share with others. All your other notes are never shared. To share theirs
          with you, others need the number of yours; whoever only knows it sees nothing.
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

const somebody = html`Their user name here, or the number of their notebook`;

function ownForms(visit: Visit): Markup | null {
  if (!visit.person.mayChange) return null;
  const spans = Object.fromEntries(Object.entries(days).map(([name, { words }]) => [name, words]));
  const share = html`${field("who", somebody)} ${choice("level", html`They can`, levels)}
  ${choice("days", html`How long`, spans)}`;
  return html`<details>
      <summary>Share your notebook with somebody</summary>
      ${form(visit, ["grant"], html`<div class="row">${share} <button class="main">Share</button></div>`)}
    </details>
    <details>
      <summary>Delete what somebody has written in your notebook</summary>
      <p class="note">Stop sharing with them first. What they have written goes to your trash.</p>
      ${form(visit, ["clear"], html`<div class="row">${field("creator", somebody)} <button class="grave">Delete</button></div>`)}
    </details>`;
}

function joinForm(visit: Visit): Markup | null {
  if (!visit.person.mayChange) return null;
  const number = field("store", html`Number of the notebook`);
  return html`<details>
    <summary>See a notebook again that you have hidden</summary>
    ${form(visit, ["join"], html`<div class="row">${number} <button>See it again</button></div>`)}
  </details>`;
}

export const grant: Screen = {
  async act({ runtime, ctx, form: sent }) {
    const [level, span] = [sent.get("level") ?? "", sent.get("days") ?? ""];
    if (!isIn(levels, level) || !isIn(days, span)) throw new NothingHere();
    const { count } = days[span];
    const expiresAt = count === null ? undefined : new Date(Date.now() + count * 86_400_000);
    await runtime.stores(ctx).grant((sent.get("who") ?? "").trim(), { level, expiresAt });
    return { to: ["sharing"], done: "granted" };
  },
};

export const revoke: Screen = {
  async act({ runtime, ctx, names }) {
    await runtime.stores(ctx).revoke(names.join("/"));
    return { to: ["sharing"], done: "revoked" };
  },
};

export const clear: Screen = {
  async act({ runtime, ctx, form: sent }) {
    await runtime.stores(ctx).clear((sent.get("creator") ?? "").trim());
    return { to: ["sharing"], done: "cleared" };
  },
};

export const quit: Screen = {
  async act({ runtime, ctx, names }) {
    await runtime.stores(ctx).leave(names.join("/"));
    return { to: ["sharing"], done: "quit" };
  },
};

export const join: Screen = {
  async act({ runtime, ctx, form: sent }) {
    await runtime.stores(ctx).rejoin((sent.get("store") ?? "").trim());
    return { to: ["sharing"], done: "joined" };
  },
};
