/** What was deleted: put back, or removed for good. */
import { counted } from "../../../markup/elements.ts";
import { html } from "../../../markup/markup.ts";
import type { Markup } from "../../../markup/markup.ts";
import type { TrashedFile } from "../../../owner/own-entry.ts";
import { button, form, kept, linkTo, paged, pagedQuery, time } from "./elements.ts";
import { entryNames, isIn, noteAt, placeIn, placeNames, spans } from "./places.ts";
import { NothingHere } from "./visit.ts";
import type { Screen, Visit } from "./visit.ts";

export const trash: Screen = {
  query: pagedQuery,
  async look(visit) {
    const { runtime, ctx, to, person } = visit;
    const files = await runtime.upkeep.listTrash(ctx);
    const old = html`<p>
        <a href="${to(["empty", "month"])}">Delete for good what was deleted more than 30 days ago…</a>
      </p>
      <p><a href="${to(["empty", "all"])}">Delete all of it for good…</a></p>`;
    return {
      title: "Trash",
      body: html`<p>
          What you or assistants have deleted stays here until you delete it for good. Assistants do not see it.
        </p>
        ${paged(visit, files, (file) => item(visit, file), html`The trash is empty.`)}
        ${files.length > 0 && person.mayChange ? old : null}`,
    };
  },
};

const item = (visit: Visit, { scope, name, path, epochMs }: TrashedFile): Markup =>
  html`<strong>${noteAt(`${scope}/${path}`)}</strong>
    <p class="note">Deleted ${time(new Date(epochMs))}</p>
    ${button(visit, ["restore", ...placeNames({ scope, path: name })], "Put back")}`;

export const restore: Screen = {
  async act({ runtime, ctx, names }) {
    const { scope, path } = placeIn(names);
    const file = await runtime.upkeep.restore(ctx, path, { scope });
    return { to: entryNames(file), done: "restored" };
  },
};

const ages = {
  month: { ms: spans.month.ms, words: "what was deleted more than 30 days ago" },
  all: { ms: 0, words: "everything in the trash" },
} as const;

export const empty: Screen = {
  async look(visit) {
    const { runtime, ctx, names } = visit;
    const { ms, words } = ageIn(names);
    const beforeMs = Date.now() - ms;
    const files = (await runtime.upkeep.listTrash(ctx)).filter(({ epochMs }) => epochMs < beforeMs);
    const confirm = form(
      visit,
      ["empty", ...names],
      html`${kept("since", String(beforeMs))}<button class="grave">Delete for good</button>`,
    );
    return {
      title: "Delete for good",
      body: html`<p>
          This deletes ${words}: ${counted(files.length, html`note`, html`notes`)}, and all their earlier texts. Nobody
          can bring them back. The notes that you still have stay.
        </p>
        ${files.length === 0 ? null : confirm} ${linkTo(visit, ["trash"], html`Cancel`)}`,
    };
  },
  async act({ runtime, ctx, names, form: sent }) {
    const { ms } = ageIn(names);
    const beforeEpochMs = Number(sent.get("since"));
    // What was trashed since the person has looked stays.
    if (!Number.isInteger(beforeEpochMs) || beforeEpochMs > Date.now() - ms) throw new NothingHere();
    await runtime.upkeep.purge(ctx, { beforeEpochMs });
    return { to: ["trash"], done: "emptied" };
  },
};

function ageIn(names: readonly string[]): { readonly ms: number; readonly words: string } {
  const [name = "", ...others] = names;
  if (!isIn(ages, name) || others.length > 0) throw new NothingHere();
  return ages[name];
}
