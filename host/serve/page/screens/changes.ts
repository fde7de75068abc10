/** What has changed the memory: the runs of agents and the sources of texts, and how to take back what one of them did. */
import { createHash } from "node:crypto";

import { shownPath } from "../../../../shared/encoded-name.ts";
import { counted } from "../../../markup/elements.ts";
import { html } from "../../../markup/markup.ts";
import type { Markup, Value } from "../../../markup/markup.ts";
import type { ChangeSource } from "../../../owner/own-entry.ts";
import type { UndoOptions, UndoPlan } from "../../../owner/undo-plan.ts";
import { form, kept, origin, paged, pagedQuery, time } from "./elements.ts";
import { sourceId } from "./places.ts";
import { NothingHere } from "./visit.ts";
import type { Screen, Shown, Visit } from "./visit.ts";

const spans = {
  hour: { words: "the last hour", ms: 3_600_000 },
  day: { words: "the last day", ms: 86_400_000 },
  week: { words: "the last 7 days", ms: 7 * 86_400_000 },
} as const;

export const changes: Screen = {
  query: pagedQuery,
  async look(visit) {
    const { runtime, ctx, to } = visit;
    const sources = await runtime.upkeep.runs(ctx);
    const { shown, links } = paged(visit, ["changes"], sources, (source) => item(visit, source));
    const since = Object.entries(spans).map(
      ([name, { words }]) => html`<li><a href="${to(["undo", name])}">${words}</a></li> `,
    );
    return {
      title: "What has changed your memory",
      body: html`<p>
          A run is one piece of work of an agent. A source is where a text comes from, such as a web page. You can take
          back what one of them has changed; you see first what that would do.
        </p>
        ${
          sources.length === 0
            ? html`<p>No agent has named a run or a source yet.</p>`
            : html`<ul class="list">
                ${shown}
              </ul>`
        }
        ${links}
        ${
          visit.person.mayChange
            ? html`<h2>Take back everything of</h2>
                <ul class="plan">
                  ${since}
                </ul>`
            : null
        }`,
    };
  },
};

const item = ({ to, person }: Visit, source: ChangeSource): Markup => {
  const { kind, name, changes: count, files, waiting, lastAt, trust } = source;
  const words = html`${kind === "run" ? html`Run` : html`Source`} ${name}`;
  const done =
    count === 0
      ? null
      : html`${counted(count, html`change`, html`changes`)} in ${counted(files, html`file`, html`files`)}`;
  const waits =
    waiting === 0 ? null : html`${done && html`, `}${counted(waiting, html`suggestion waits`, html`suggestions wait`)}`;
  return html`<li>
    ${person.mayChange ? html`<a href="${to(["undo", sourceId(source)])}">${words}</a>` : html`<strong>${words}</strong>`}
    <p class="note">
      ${time(lastAt)}: ${done}${waits},
      ${trust === "owner_edit" ? html`approved by you` : origin({ class: trust, trust })}
    </p>
  </li>`;
};

export const undo: Screen = {
  async look(visit) {
    const { asked, words } = await askedFor(visit, Date.now());
    return await planned(visit, asked, words);
  },
  async act(visit) {
    const { runtime, ctx, form: sent } = visit;
    const { asked, words } = await askedFor(visit, Number(sent.get("since") ?? 0));
    const plan = await runtime.upkeep.planUndo(ctx, asked);
    if (digestOf(plan) !== sent.get("plan")) {
      const again = await planned(visit, asked, words);
      const told = html`<p class="warning" role="alert">
        Nothing was taken back: something has changed meanwhile. This is what it would do now.
      </p>`;
      return { ...again, body: html`${told}${again.body}`, status: 409 };
    }
    const done = await runtime.upkeep.undo(ctx, asked);
    return { title: "Taken back", body: html`${linesOf(done)}${backToChanges(visit)}` };
  },
};

const backToChanges = ({ to }: Visit): Markup =>
  html`<p class="note"><a href="${to(["changes"])}">What has changed your memory</a></p>`;

/** The changes that an address names. Those of a time are counted from `nowMs`. */
async function askedFor({ runtime, ctx, names: [name = ""] }: Visit, nowMs: number) {
  const span = Object.hasOwn(spans, name) ? spans[name as keyof typeof spans] : null;
  if (span !== null) {
    const asked: UndoOptions = { since: new Date(Math.max(0, nowMs - span.ms)) };
    return { asked, words: html`everything of ${span.words}` };
  }
  const found = (await runtime.upkeep.runs(ctx)).find((source) => sourceId(source) === name);
  if (found === undefined) throw new NothingHere();
  const asked: UndoOptions = { [found.kind]: found.name };
  return {
    asked,
    words: html`what ${found.kind === "run" ? html`the run` : html`the source`} ${found.name} has changed`,
  };
}

async function planned(visit: Visit, asked: UndoOptions, words: Markup): Promise<Shown> {
  const { runtime, ctx, names } = visit;
  const plan = await runtime.upkeep.planUndo(ctx, asked);
  const span = Object.hasOwn(spans, names[0] ?? "") ? spans[names[0] as keyof typeof spans] : null;
  const since =
    span === null || asked.since === undefined ? null : kept("since", String(asked.since.getTime() + span.ms));
  const isEmpty = Object.values(plan).every((list: readonly unknown[]) => list.length === 0);
  const confirm = form(
    visit,
    ["undo", ...names],
    html`${kept("plan", digestOf(plan))}${since}<button class="main">Take it back</button>`,
  );
  return {
    title: "Take back",
    body: html`<p>To take back ${words}:</p>
      ${isEmpty ? html`<p>There is nothing to take back.</p>` : html`${linesOf(plan)}${confirm}`}
      ${backToChanges(visit)}`,
  };
}

const digestOf = (plan: UndoPlan): string => createHash("sha256").update(JSON.stringify(plan)).digest("hex");

function linesOf({ restored, trashed, derived, builtOn, left, waiting }: UndoPlan): Markup {
  return html`${part(html`Gets its text of before back`, restored.map(shownPath))}
  ${part(html`Goes to the trash, because it was not there before`, trashed.map(shownPath))}
  ${part(html`Is made anew from the others`, derived.map(shownPath))}
  ${part(
    html`Stays, because it was changed again later`,
    builtOn.map(({ path }) => shownPath(path)),
  )}
  ${part(
    html`Stays`,
    left.map(({ path, reason }) => html`${shownPath(path)}: ${reason}`),
  )}
  ${part(
    html`Suggestions that are rejected`,
    waiting.map(({ paths }) => paths.map(shownPath).join(", ")),
  )}`;
}

const part = (words: Markup, lines: readonly Value[]): Markup | null =>
  lines.length === 0
    ? null
    : html`<h2>${words}</h2>
        <ul class="plan">
          ${lines.map((line) => html`<li>${line}</li>`)}
        </ul>`;
