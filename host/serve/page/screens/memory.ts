/** What is remembered: every family in one list, the latest first, with search and filters. */
import { isAtLeast } from "../../../../shared/origin.ts";
import { ownStoreName } from "../../../../shared/shared-scope.ts";
import { counted } from "../../../markup/elements.ts";
import { html } from "../../../markup/markup.ts";
import type { Markup, Value } from "../../../markup/markup.ts";
import type { FileFacts, ListedEntry, OwnEntries } from "../../../owner/own-entry.ts";
import { changed, choice, fold, form, list, origin, paged, pagedQuery, time } from "./elements.ts";
import { entryNames, isIn, noteNames, spans, titleOf } from "./places.ts";
import { textField } from "./texts.ts";
import type { Screen, Visit } from "./visit.ts";

const writers = { me: html`me`, agents: html`assistants`, outside: html`others, not approved` } as const;

const ages = Object.fromEntries(Object.entries(spans).map(([name, { words }]) => [name, html`in the last ${words}`]));

/** An empty choice means all. */
const oneOf = (words: readonly string[]): RegExp => new RegExp(`^(?:${words.join("|")})?$`);

export const memory: Screen = {
  query: {
    ...pagedQuery,
    from: oneOf(Object.keys(writers)),
    written: oneOf(Object.keys(ages)),
    keeper: /^[a-z0-9-]{0,64}$/,
  },
  async look(visit) {
    const { runtime, ctx, query } = visit;
    const { entries, left } = await runtime.upkeep.entries(ctx);
    const asked = entries.filter((entry) => isAsked(entry, query)).toSorted(latestFirst);
    return {
      title: "Memory",
      body: html`<p>
          This is what AI assistants, the programs that you talk with, have stored about you here. You can read, correct
          and delete it. What they keep elsewhere is not here.
        </p>
        <search class="find">${searchForm(visit)} ${entries.length === 0 ? null : filterForm(visit, entries)}</search>
        <h2>
          ${counted(asked.length, html`note`, html`notes`)}${asked.length < entries.length ? html` of ${entries.length}` : null}
        </h2>
        ${paged(visit, asked, (entry) => item(visit, entry), entries.length === 0 ? nothingYet : html`No note is like that.`)}
        ${leftOut(left)} ${addForm(visit)}`,
    };
  },
};

const nothing: OwnEntries = { entries: [], left: [] };

export const search: Screen = {
  isReading: true,
  async act(visit) {
    const words = visit.form.get("words") ?? "";
    const isEmpty = words.trim() === "";
    const { entries, left } = isEmpty ? nothing : await visit.runtime.upkeep.search(visit.ctx, words);
    return {
      title: "Found",
      body: html`<search class="find">${searchForm(visit, words)}</search>
        <h2>${counted(entries.length, html`note`, html`notes`)} with ${isEmpty ? html`no words` : words}</h2>
        ${list(entries, (entry) => item(visit, entry), html`Nothing was found. <a href="${visit.to([])}">See everything</a>`)}
        ${leftOut(left)}`,
    };
  },
};

export const add: Screen = {
  async act({ runtime, ctx, form: sent }) {
    const { file } = await runtime.upkeep.add(ctx, sent.get("text") ?? "");
    return { to: entryNames(file), done: "added" };
  },
};

function isAsked(entry: ListedEntry, query: Visit["query"]): boolean {
  const [from = "", written = "", keeper = ""] = ["from", "written", "keeper"].map((name) => query.get(name));
  const file = fileOf(entry);
  if (keeper !== "" && entry.family !== keeper) return false;
  if (from !== "" && (file === null || from !== writerOf(file.trust))) return false;
  const sinceMs = isIn(spans, written) ? Date.now() - spans[written].ms : 0;
  return (file?.at ?? null) === null || (file?.at?.getTime() ?? 0) >= sinceMs;
}

const fileOf = ({ file, sharedFile }: ListedEntry): FileFacts | null => file ?? sharedFile;

const writerOf = (trust: FileFacts["trust"]): keyof typeof writers =>
  isAtLeast(trust, "direct_user") ? "me" : isAtLeast(trust, "unstated") ? "agents" : "outside";

/** What somebody has changed by hand since, nobody knows when, comes first. */
const latestFirst = (a: ListedEntry, b: ListedEntry): number => timeOf(fileOf(b)) - timeOf(fileOf(a));
const timeOf = (file: FileFacts | null): number => (file ? (file.at?.getTime() ?? Number.MAX_SAFE_INTEGER) : 0);

const searchForm = (visit: Visit, words = ""): Value =>
  form(
    visit,
    ["search"],
    html`<div class="row">
      <label for="words"
        >Search for words<input id="words" name="words" type="search" maxlength="200" value="${asLine(words)}"
      /></label>
      <button>Search</button>
    </div>`,
    true,
  );

/** What an input of one line takes. */
const asLine = (words: string): string => words.replaceAll(/[\p{Cc}\p{Cs}]/gu, " ");

function filterForm({ to, query }: Visit, entries: readonly ListedEntry[]): Markup {
  const families = [...new Set(entries.map(({ family }) => family))];
  const kinds = Object.fromEntries(families.map((name) => [name, familyWords(name)]));
  return html`<form method="get" action="${to([])}">
    <div class="row">
      ${choice("from", html`Written by`, { "": html`anyone`, ...writers }, query.get("from"))}
      ${choice("written", html`Written`, { "": html`at any time`, ...ages }, query.get("written"))}
      ${families.length < 2 ? null : choice("keeper", html`Kind`, { "": html`all`, ...kinds }, query.get("keeper"))}
      <button>Show</button>
    </div>
  </form>`;
}

/** The name of a plugin, in a person's words. */
const familyWords = (family: string): string => (family === "stores" ? "notebook" : family.replaceAll("-", " "));

function item({ to }: Visit, entry: ListedEntry): Markup {
  const { family, name, description, file, snippet = "" } = entry;
  const known = fileOf(entry);
  const where = known?.scope === ownStoreName ? html`, in the notebook that you can share` : null;
  return html`<a href="${to(file === null ? noteNames(entry) : entryNames(file))}">${titleOf(name)}</a>
    <p>${description}</p>
    ${snippet === "" || snippet === description ? null : html`<p class="note">… ${snippet} …</p>`}
    <p class="note">
      ${known === null ? familyWords(family) : [file === null ? inFile(known) : changed(known), where]}
    </p>`;
}

/** Nobody knows which of the notes in a file its last change was about. What nobody has approved is told of all of them. */
const inFile = (file: FileFacts): Markup =>
  html`In a file with others, last changed
  ${file.at === null ? html`by hand` : time(file.at)}${isAtLeast(file.trust, "unstated") ? null : [", ", origin(file)]}`;

const nothingYet = html`Nothing is remembered yet. What an assistant remembers of you will be here, with the time and
where it comes from.`;

const leftOut = (left: OwnEntries["left"]): Markup[] =>
  left.map(({ path, reason }) => html`<p class="note">The notes of ${familyWords(path)} are not here: ${reason}</p>`);

function addForm(visit: Visit): Markup | null {
  const asked = html`${textField(html`What assistants should know of you`, "")}<button class="main">Add</button>`;
  return fold(html`Write a note yourself`, form(visit, ["add"], asked));
}
