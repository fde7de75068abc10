/** An entry: its text as it is, where it comes from, its history, and what its owner can do to it. */
import { shownPath } from "../../../../shared/encoded-name.ts";
import { isAtLeast } from "../../../../shared/origin.ts";
import { facts } from "../../../markup/elements.ts";
import { html } from "../../../markup/markup.ts";
import type { Markup, Value } from "../../../markup/markup.ts";
import type { FileVersion } from "../../../owner/file-version.ts";
import { changeOf } from "../../../owner/history.ts";
import type { ShownEntry } from "../../../owner/own-entry.ts";
import { ToolError } from "../../../values/tool-error.ts";
import {
  alert,
  difference,
  form,
  hidden,
  kept,
  linkTo,
  origin,
  paged,
  pagedQuery,
  textField,
  time,
  wholeText,
} from "./elements.ts";
import { entryNames, placeIn, placeNames, shaIn, sourceId, titleOf } from "./places.ts";
import { typedOver, whyNotTyped } from "./typed-text.ts";
import { NothingHere } from "./visit.ts";
import type { Screen, Shown, Visit } from "./visit.ts";

const find = ({ runtime, ctx, names }: Visit): Promise<ShownEntry> => {
  const { scope, path } = placeIn(names);
  return runtime.upkeep.entry(ctx, path, { scope });
};

export const entry: Screen = {
  query: pagedQuery,
  async look(visit) {
    const { runtime, ctx, names, to } = visit;
    const shown = await find(visit);
    const { file } = shown;
    const versions = await runtime.upkeep.history(ctx, placeIn(names));
    return {
      title: titleOf(shown.name),
      body: html`${warning(visit, shown)}
        ${facts([
          [html`Comes from`, origin(file)],
          ...(file.at === null ? [] : [[html`Written`, time(file.at)] as const]),
          ...sourcesOf(visit, file),
        ])}
        ${await content(visit, shown)} ${actions(visit, shown)}
        <h2>Earlier texts</h2>
        ${paged(visit, ["entry", ...names], { items: versions, show: (each) => versionItem(visit, each), empty: html`There is no earlier text.` })}
        <p class="note">File: ${shownPath(`${file.scope}/${file.path}`)}. <a href="${to([])}">All notes</a></p>`,
    };
  },
};

/** What a note says, as its plugin reads it, and its whole file, which a confirmation is about. */
async function content({ runtime, ctx }: Visit, { name, file, text }: ShownEntry): Promise<Markup> {
  if (text === null) return html`<p>This file is not text.</p>`;
  const whole = html`${hidden(text)}${wholeText(text)}`;
  const family = runtime
    .families()
    .find(
      ({ canRead, entryFile, entryScopes }) => canRead && entryFile !== undefined && entryScopes.includes(file.scope),
    );
  if (family === undefined || !isAtLeast(file.trust, "unstated")) return whole;
  const read = await runtime.readEntry({ family: family.name, name }, ctx).catch((error: unknown) => {
    if (error instanceof ToolError) return null;
    throw error;
  });
  if (read === null) return whole;
  const description: unknown = Object.hasOwn(read, "description") ? Reflect.get(read, "description") : null;
  return html`${typeof description === "string" ? html`<p>${description}</p>` : null}${hidden(text)}${wholeText(read.body)}
    <details>
      <summary>The whole file</summary>
      ${wholeText(text)}
    </details>`;
}

/** The run and the source of a text, for who may undo with a link to what else it has changed. */
function sourcesOf({ to, person }: Visit, { run, source }: Pick<FileVersion, "run" | "source">) {
  const link = (kind: "run" | "source", name: string): Markup | null =>
    person.mayChange ? html`<a href="${to(["undo", sourceId({ kind, name })])}">What else it has changed</a>` : null;
  return [
    ...(run === null ? [] : [[html`Task of an assistant`, html`${run} ${link("run", run)}`] as const]),
    ...(source === null ? [] : [[html`Source`, html`${source} ${link("source", source)}`] as const]),
  ];
}

/** Of a text that nobody has approved. */
function warning(visit: Visit, { file, isDerived }: ShownEntry): Value {
  if (isDerived || isAtLeast(file.trust, "unstated")) return null;
  return html`<div class="warning">
    <p>
      This text does not come from you, and you have not approved it. It may be wrong, or written to mislead an
      assistant.
    </p>
    ${confirm(visit, file, html`If you have read all of it and it is right:`)}
  </div>`;
}

const confirm = (visit: Visit, file: ShownEntry["file"], words: Markup): Value =>
  form(
    visit,
    ["confirm", ...placeNames(file)],
    html`${kept("sha", file.sha256)}
      <p>${words} <button>Yes, it is right</button> It counts as your own words then.</p>`,
  );

function actions(visit: Visit, { file, isDerived, text }: ShownEntry): Value {
  if (!visit.person.mayChange) return null;
  if (isDerived) return html`<p class="note">This list is made from the notes. Change one of these.</p>`;
  const why = whyNotTyped(text, visit.formBytesMax);
  const edit = html`<a class="button" href="${visit.to(["edit", ...placeNames(file)])}">Edit</a>`;
  const isOwn = file.trust === "owner_edit" || !isAtLeast(file.trust, "unstated");
  return html`<div class="row">
      ${why === null ? edit : null}
      ${form(visit, ["forget", ...placeNames(file)], html`${kept("sha", file.sha256)}<button class="grave">Delete</button>`)}
    </div>
    <p class="note">What you delete goes to the trash. You can put it back.</p>
    ${why === null ? null : html`<p class="note">You cannot edit it here: ${why}. Edit the file in another program.</p>`}
    ${isOwn ? null : confirm(visit, file, html`Have you read the whole file, and is it right?`)}`;
}

const versionItem = ({ to }: Visit, version: FileVersion): Markup =>
  html`<a href="${to(["version", String(version.seq), ...placeNames(version)])}">${time(version.at)}</a>,
    ${changeOf(version)}
    <p class="note">${origin(version)}</p>`;

export const version: Screen = {
  async look(visit) {
    const { runtime, ctx } = visit;
    const { seq, place, found } = await findVersion(visit);
    const { lines } = await runtime.upkeep.diff(ctx, place.path, { from: "before", to: seq, scope: place.scope });
    const name = found.entry ?? place.path;
    const putBack = html`<button>Use this text again</button>`;
    return {
      title: `${titleOf(name)}, after a change`,
      body: html`${facts([
          [html`Written`, time(found.at)],
          [html`What happened`, html`${changeOf(found)}`],
          [html`Comes from`, origin(found)],
          ...sourcesOf(visit, found),
        ])}
        <h2>What it changed</h2>
        ${lines === null ? html`<p>This is not text, or too much has changed to be compared.</p>` : difference(lines)}
        ${found.sha256 === null ? null : form(visit, ["version", String(seq), ...placeNames(place)], putBack)}
        ${linkTo(visit, entryNames(place), html`The note as it is now`)}`,
    };
  },
  async act(visit) {
    const { runtime, ctx } = visit;
    const { seq, place } = await findVersion(visit);
    const { outcome } = await runtime.upkeep.restoreVersion(ctx, place.path, { version: seq, scope: place.scope });
    return { to: entryNames(place), done: outcome === "unchanged" ? "same" : "restored" };
  },
};

async function findVersion({ runtime, ctx, names: [number = "", ...names] }: Visit) {
  const seq = /^[1-9]\d{0,14}$/.test(number) ? Number(number) : 0;
  const place = placeIn(names);
  const found = (await runtime.upkeep.history(ctx, place)).find((each) => each.seq === seq);
  if (found === undefined) throw new NothingHere();
  return { seq, place, found };
}

export const confirmed: Screen = {
  async act({ runtime, ctx, names, form: sent }) {
    const place = placeIn(names);
    await runtime.upkeep.vouch(ctx, place.path, shaIn(sent), { scope: place.scope });
    return { to: entryNames(place), done: "confirmed" };
  },
};

export const forget: Screen = {
  async act({ runtime, ctx, names, form: sent }) {
    const place = placeIn(names);
    await runtime.upkeep.trash(ctx, place.path, { scope: place.scope, ifSha256: shaIn(sent) });
    return { to: ["trash"], done: "forgotten" };
  },
};

export const edit: Screen = {
  async look(visit) {
    const shown = await find(visit);
    if (shown.isDerived || whyNotTyped(shown.text, visit.formBytesMax) !== null) throw new NothingHere();
    return editor(visit, shown, { text: shown.text ?? "", problem: null });
  },
  async act(visit) {
    const { runtime, ctx, form: sent } = visit;
    const { file, text: before, ...shown } = await find(visit);
    const text = typedOver(before, sent.get("text") ?? "");
    if (text === before) return { to: entryNames(file), done: "same" };
    try {
      const choice = { scope: file.scope, ifSha256: shaIn(sent) };
      await runtime.upkeep.edit(ctx, file.path, text, choice);
    } catch (error) {
      if (!(error instanceof ToolError)) throw error;
      const isOld = error.code === "VERSION_CONFLICT";
      const problem = isOld ? null : error.message;
      return { ...editor(visit, { ...shown, file, text: before }, { text, problem }), status: isOld ? 409 : 422 };
    }
    return { to: entryNames(file), done: "saved" };
  },
};

/** `problem`: why a text could not be saved. `null`: it is the first time, or somebody else has changed the entry meanwhile. */
function editor(visit: Visit, shown: ShownEntry, { text, problem }: { text: string; problem: string | null }): Shown {
  const { file } = shown;
  const isOld = problem === null && text !== shown.text;
  const now = isOld
    ? alert(
        html`Nothing was saved: the note has changed since you began. Below is your text, and then the note as it is
        now. Saving puts your text in its place.`,
      )
    : null;
  return {
    title: `Change “${titleOf(shown.name)}”`,
    body: html`${problem === null ? now : alert(html`Nothing was saved. ${problem}`)}
    ${form(
      visit,
      ["edit", ...placeNames(file)],
      html`${kept("sha", file.sha256)} ${textField(html`Text`, text)}
        <div class="row">
          <button class="main">Save</button>
          <a class="button" href="${visit.to(entryNames(file))}">Cancel</a>
        </div>`,
    )}
    ${
      isOld
        ? html`<h2>As it is now</h2>
            ${wholeText(shown.text ?? "")}`
        : null
    }`,
  };
}

/** An entry of a plugin that keeps several in one file, or does not say in which. */
export const note: Screen = {
  async look(visit) {
    const {
      runtime,
      ctx,
      names: [family = "", ...names],
    } = visit;
    const { body } = await runtime.readEntry({ family, name: names.join("/") }, ctx);
    return {
      title: titleOf(names.join("/")),
      body: html`${hidden(body)}${wholeText(body)}${linkTo(visit, [], html`All notes`)}`,
    };
  },
};
