/** An entry: its text as it is, where it comes from, its history, and what its owner can do to it. */
import { shownPath } from "../../../../shared/encoded-name.ts";
import { isAtLeast } from "../../../../shared/origin.ts";
import { facts } from "../../../markup/elements.ts";
import { html } from "../../../markup/markup.ts";
import type { Markup, Value } from "../../../markup/markup.ts";
import type { FileVersion } from "../../../owner/file-version.ts";
import { changeOf } from "../../../owner/history.ts";
import type { FileFacts, ListedEntry, ShownEntry } from "../../../owner/own-entry.ts";
import { ToolError } from "../../../values/tool-error.ts";
import { alert, changed, fold, form, kept, linkTo, origin, paged, pagedQuery, time } from "./elements.ts";
import { entryNames, noteNames, placeIn, placeNames, shaIn, sourcesOf, titleOf } from "./places.ts";
import { difference, hidden, textForm, typedOver, wholeText, whyNotTyped } from "./texts.ts";
import { NothingHere } from "./visit.ts";
import type { Screen, Shown, Visit } from "./visit.ts";

const find = ({ runtime, ctx, names }: Visit): Promise<ShownEntry> => {
  const { scope, path } = placeIn(names);
  return runtime.upkeep.entry(ctx, path, { scope });
};

/** An entry whose plugin can keep several in one file: those in its file as far as they are listed; of any other `null`. */
async function notesIn({ runtime, ctx }: Visit, { scope, path }: FileFacts): Promise<readonly ListedEntry[] | null> {
  if (runtime.families().some((each) => each.entryFile !== undefined && each.entryScopes.includes(scope))) return null;
  const isHere = (file: FileFacts | null): boolean => file?.scope === scope && file.path === path;
  const { entries } = await runtime.upkeep.entries(ctx);
  return entries.filter(({ file, sharedFile }) => isHere(file ?? sharedFile));
}

export const entry: Screen = {
  query: pagedQuery,
  async look(visit) {
    const { runtime, ctx, names, to } = visit;
    const shown = await find(visit);
    const { file } = shown;
    const notes = await notesIn(visit, file);
    const versions = await runtime.upkeep.history(ctx, placeIn(names));
    const inIt = notes?.map(({ name }) => titleOf(name)).join(", ") ?? "";
    const whole = html`<p class="notice">
      This is a whole file${inIt && html`, with at least: ${inIt}`}. What you change, confirm or delete here is all of
      it.
    </p>`;
    return {
      title: notes === null || notes.length === 1 ? titleOf(notes?.[0]?.name ?? shown.name) : shownPath(file.path),
      body: html`${warning(visit, shown)} ${fileFacts(visit, file, (notes?.length ?? 1) > 1)} ${notes && whole}
        ${notes === null ? await content(visit, shown) : textOf(shown)} ${actions(visit, shown, notes !== null)}
        <h2>Its texts, the latest first</h2>
        ${paged(visit, versions, (each) => versionItem(visit, each), html`None was kept.`)}
        <p class="note">File: ${shownPath(`${file.scope}/${file.path}`)}. <a href="${to([])}">All notes</a></p>`,
    };
  },
};

/** Of a file with several notes, nobody knows which of them its last change was about. */
function fileFacts(visit: Visit, file: FileFacts, isShared: boolean): Markup {
  if (isShared) return facts([[html`Last change of its file`, changed(file)]]);
  const at = file.at && ([html`Written`, time(file.at)] as const);
  return facts([[html`Comes from`, origin(file)], at, ...sourcesOf(visit, file)]);
}

const textOf = ({ text }: ShownEntry): Markup =>
  text === null ? html`<p>This file is not text.</p>` : html`${hidden(text)}${wholeText(text)}`;

/** What a note says, as its plugin reads it, and its whole file, which a confirmation is about. */
async function content({ runtime, ctx }: Visit, shown: ShownEntry): Promise<Markup> {
  const { name, file, text } = shown;
  const family = runtime.families().find(({ canRead, entryScopes }) => canRead && entryScopes.includes(file.scope));
  if (text === null || family === undefined || !isAtLeast(file.trust, "unstated")) return textOf(shown);
  const read = await runtime.readEntry({ family: family.name, name }, ctx).catch((error: unknown) => {
    if (error instanceof ToolError) return null;
    throw error;
  });
  if (read === null) return textOf(shown);
  const description: unknown = Object.hasOwn(read, "description") ? Reflect.get(read, "description") : null;
  return html`${typeof description === "string" ? html`<p>${description}</p>` : null}${hidden(text)}${wholeText(read.body)}${fold(html`The whole file`, wholeText(text))}`;
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
      <p>${words} <button>Yes, it is right</button> Assistants then trust it as if you had said it.</p>`,
  );

function actions(visit: Visit, { file, isDerived, text }: ShownEntry, isWhole: boolean): Value {
  if (!visit.person.mayChange) return null;
  if (isDerived) return html`<p class="note">This list is made from the notes. Change one of these.</p>`;
  const why = whyNotTyped(text, visit.formBytesMax);
  const edit = html`<a class="button" href="${visit.to(["edit", ...placeNames(file)])}">Edit</a>`;
  const words = isWhole ? html`Delete the whole file` : html`Delete`;
  const isOwn = isAtLeast(file.trust, "direct_user") || !isAtLeast(file.trust, "unstated");
  return html`<div class="row">
      ${why === null ? edit : null}
      ${form(visit, ["forget", ...placeNames(file)], html`${kept("sha", file.sha256)}<button class="grave">${words}</button>`)}
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
    const putBack = html`<button>Put this text back</button>`;
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
    return editor(visit, shown, shown.text ?? "");
  },
  async act(visit) {
    const { runtime, ctx, form: sent } = visit;
    const shown = await find(visit);
    const { file, text: before } = shown;
    const text = typedOver(before, sent.get("text") ?? "");
    if (text === before) return { to: entryNames(file), done: "same" };
    try {
      const choice = { scope: file.scope, ifSha256: shaIn(sent) };
      await runtime.upkeep.edit(ctx, file.path, text, choice);
    } catch (error) {
      if (!(error instanceof ToolError)) throw error;
      const again = editor(visit, shown, text);
      if (error.code !== "VERSION_CONFLICT")
        return { ...again, body: html`${alert(html`Nothing was saved. ${error.message}`)}${again.body}`, status: 422 };
      const told = alert(
        html`Nothing was saved: the note has changed since you began. Below is your text, and then the note as it is
        now. Saving puts your text in its place.`,
      );
      const body = html`${told}${again.body}
        <h2>As it is now</h2>
        ${wholeText(before ?? "")}`;
      return { ...again, body, status: 409 };
    }
    return { to: entryNames(file), done: "saved" };
  },
};

function editor(visit: Visit, { name, file }: ShownEntry, text: string): Shown {
  const label = html`Text. When you save it, all of it counts as your own words, and the text before is kept`;
  const typed = { label, text, button: html`Save`, back: entryNames(file), more: kept("sha", file.sha256) };
  return { title: `Change “${titleOf(name)}”`, body: html`${textForm(visit, ["edit", ...placeNames(file)], typed)}` };
}

/** An entry of a plugin that can keep several in one file, or does not say in which. */
export const note: Screen = {
  async look(visit) {
    const { runtime, ctx, here } = visit;
    const { entries } = await runtime.upkeep.entries(ctx);
    const found = entries.find((each) => noteNames(each).join("/") === here.join("/"));
    if (found === undefined) throw new NothingHere();
    const file = found.file ?? found.sharedFile;
    const { body } = await runtime.readEntry({ family: found.family, name: found.name }, ctx);
    return {
      title: titleOf(found.name),
      body: html`${file && fileFacts(visit, file, found.file === null)} ${hidden(body)}${wholeText(body)}
      ${file && linkTo(visit, entryNames(file), html`Change or delete the file that it is in`)}
      ${linkTo(visit, [], html`All notes`)}`,
    };
  },
};
