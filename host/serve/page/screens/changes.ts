/** What has changed the memory: the runs of agents and the sources of texts, and how to take back what one of them did. */
import { createHash } from "node:crypto";

import { shownPath } from "../../../../shared/encoded-name.ts";
import { counted } from "../../../markup/elements.ts";
import { html } from "../../../markup/markup.ts";
import type { Markup, Value } from "../../../markup/markup.ts";
import type { ChangeSource } from "../../../owner/own-entry.ts";
import type { UndoOptions, UndoPlan } from "../../../owner/undo-plan.ts";
import { alert, form, kept, linkTo, origin, paged, pagedQuery, points, time } from "./elements.ts";
import { isIn, noteAt, sourceId, spans, titleOf } from "./places.ts";
import { NothingHere } from "./visit.ts";
import type { Screen, Shown, Visit } from "./visit.ts";

export const changes: Screen = {
  query: pagedQuery,
  async look(visit) {
    const { runtime, ctx, to } = visit;
    const sources = await runtime.upkeep.runs(ctx);
    const since = Object.entries(spans).map(
      ([name, { words }]) => html`<a href="${to(["undo", name])}">the last ${words}</a>`,
    );
    return {
      title: "What has changed your memory",
      body: html`<p>
          A task is one piece of work of an assistant. A source is where a text comes from, such as a web page. You can
          undo what one of them has changed. You see first what that would do, and then decide.
        </p>
        ${paged(visit, sources, (source) => item(visit, source), html`No assistant has named a task or a source yet.`)}
        ${visit.person.mayChange ? [html`<h2>Undo everything of</h2>`, points(since)] : null}`,
    };
  },
};

const item = ({ to, person }: Visit, source: ChangeSource): Markup => {
  const { kind, name, changes: count, files, waiting, lastAt, trust } = source;
  const words = html`${kind === "run" ? html`Task` : html`Source`} ${name}`;
  const made = html`${counted(count, html`change`, html`changes`)} in ${counted(files, html`note`, html`notes`)}`;
  const done = count === 0 ? null : made;
  const waits = waiting === 0 ? null : html`${done && html`, `}${counted(waiting, html`note waits`, html`notes wait`)}`;
  return html`${person.mayChange ? html`<a href="${to(["undo", sourceId(source)])}">${words}</a>` : html`<strong>${words}</strong>`}
    <p class="note">
      ${time(lastAt)}: ${done}${waits},
      ${trust === "owner_edit" ? html`approved by you` : origin({ class: trust, trust })}
    </p>`;
};

export const undo: Screen = {
  async look(visit) {
    return await planned(visit, await askedFor(visit, Date.now()));
  },
  async act(visit) {
    const { runtime, ctx, form: sent } = visit;
    const found = await askedFor(visit, Number(sent.get("since") ?? 0));
    const plan = await runtime.upkeep.planUndo(ctx, found.asked);
    if (digestOf(plan) !== sent.get("plan")) {
      const again = await planned(visit, found);
      const told = alert(html`Nothing was undone: something has changed meanwhile. This is what it would do now.`);
      return { ...again, body: html`${told}${again.body}`, status: 409 };
    }
    const done = await runtime.upkeep.undo(ctx, found.asked);
    return {
      title: "Undone",
      body: html`${linesOf(done)}${linkTo(visit, ["changes"], html`What has changed your memory`)}`,
    };
  },
};

interface AskedChanges {
  readonly asked: UndoOptions;
  readonly words: Markup;
  /** The time from which a span is counted; `null` for a run or a source. */
  readonly nowMs: number | null;
}

/** The changes that an address names. Those of a time are counted from `nowMs`. */
async function askedFor({ runtime, ctx, names: [name = ""] }: Visit, nowMs: number): Promise<AskedChanges> {
  if (isIn(spans, name)) {
    const { ms, words } = spans[name];
    return { asked: { since: new Date(Math.max(0, nowMs - ms)) }, words: html`everything of the last ${words}`, nowMs };
  }
  const found = (await runtime.upkeep.runs(ctx)).find((source) => sourceId(source) === name);
  if (found === undefined) throw new NothingHere();
  return {
    asked: { [found.kind]: found.name },
    nowMs: null,
    words: html`what ${found.kind === "run" ? html`the task` : html`the source`} ${found.name} has changed`,
  };
}

async function planned(visit: Visit, { asked, words, nowMs }: AskedChanges): Promise<Shown> {
  const { runtime, ctx, names } = visit;
  const plan = await runtime.upkeep.planUndo(ctx, asked);
  const since = nowMs === null ? null : kept("since", String(nowMs));
  const isEmpty = Object.values(plan).every((list: readonly unknown[]) => list.length === 0);
  const confirm = form(
    visit,
    ["undo", ...names],
    html`${kept("plan", digestOf(plan))}${since}<button class="main">Undo it</button>`,
  );
  return {
    title: "Undo",
    body: html`<p>To undo ${words}:</p>
      ${
        nowMs === null
          ? null
          : html`<p class="warning">
              This includes what you have told assistants and what you have changed here yourself. What somebody has
              changed in the files themselves stays.
            </p>`
      }
      ${isEmpty ? html`<p>There is nothing to undo.</p>` : html`${linesOf(plan)}${confirm}`}
      ${linkTo(visit, ["changes"], html`Cancel`)}`,
  };
}

const digestOf = (plan: UndoPlan): string => createHash("sha256").update(JSON.stringify(plan)).digest("hex");

function linesOf({ restored, trashed, builtOn, left, waiting }: UndoPlan): Markup {
  const parts: readonly (readonly [Markup, readonly Value[]])[] = [
    [html`These get their earlier text back`, restored.map(noteAt)],
    [html`These go to the trash, because they were not there before. You can put them back`, trashed.map(noteAt)],
    [html`These stay, because they were changed again later`, builtOn.map(({ path }) => noteAt(path))],
    [html`These stay`, left.map(({ path, reason }) => html`${shownPath(path)}: ${reason}`)],
    [html`These suggestions are rejected`, waiting.map(({ paths }) => paths.map(titleOf).join(", "))],
  ];
  const told = parts.filter(([, lines]) => lines.length > 0);
  return html`${told.map(([words, lines]) => [html`<h2>${words}</h2>`, points(lines)])}`;
}
