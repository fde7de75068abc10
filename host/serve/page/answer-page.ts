/** The steps of a request for the page, in order. */
import { addressBelow, editable, html } from "../../markup/markup.ts";
import type { Markup } from "../../markup/markup.ts";
import type { Runtime } from "../../runtime/api.ts";
import { ToolError } from "../../values/tool-error.ts";
import { barePage, framed, pageHeaders, redirect, refusedPage } from "./frame.ts";
import { fieldsIn, isSame } from "./page-request.ts";
import type { Door, PageAnswer, PageRefusal, PageRequest } from "./page-request.ts";
import { routes } from "./routes.ts";
import type { Route } from "./routes.ts";
import { doneWords, NothingHere } from "./screens/visit.ts";
import type { Done, Download, Fields, Left, Person, Screen, Shown, Visit } from "./screens/visit.ts";

export interface PageParts {
  /** The path of the page, without a slash at its end. */
  readonly base: string;
  /** The origin that a browser has for the page. */
  readonly origin: () => string;
  readonly door: Door;
  /** For looking. */
  readonly runtime: Runtime;
  /** Opens another for what changes something. Disposed of when it is done. `null`: the same does. */
  readonly toChange: (() => Promise<AsyncDisposable & { readonly runtime: Runtime }>) | null;
  readonly formBytesMax: number;
}

/** What a form may have before somebody is known to have sent it: a long entry. */
const unknownBytesMax = 65_536;

export async function answerPage(request: PageRequest, parts: PageParts): Promise<PageAnswer> {
  const { door, base, runtime, formBytesMax } = parts;
  const atDoor = await door.answer(request);
  if (atDoor !== null) return atDoor;
  const [name = "", ...names] = request.names;
  if (name === "left" && request.method === "GET") return await left(names.join("/") === erased, parts);
  const route = routes.get(name);
  const does = request.method === "POST" ? route?.screen.act : route?.screen.look;
  const query = queryOf(request.query, route?.screen);
  const person = await door.personOf(request);
  // Whoever is too busy can still leave.
  if (person !== null && name !== "leave") request.admit(person.userId);
  if (route === undefined || does === undefined || query === null) return refusedPage("page-unknown", request);
  const visitOf = (by: Person, form: Fields): Visit => ({
    person: by,
    here: request.names,
    names,
    query,
    form,
    formBytesMax,
    leaving: door.leaving,
    runtime: by.mayChange ? runtime : runtime.asReadOnly(),
    ctx: { userId: by.userId, signal: request.gone, labels: { via: "page" } },
    to: (below, asked) => addressBelow(base, below, asked),
  });
  if (request.method === "GET")
    return person === null ? await door.enter(request) : await show(route, visitOf(person, new Map()));
  const checked = await checkForm(request, person, parts);
  if ("refusal" in checked) return refused(checked, request);
  const visit = visitOf(checked.person, checked.form);
  if (visit.person.mayChange || route.screen.isReading === true) return await act(route, visit, parts);
  return refused({ refusal: "page-rights", form: visit.form }, request);
}

/** Only closed words can be asked for: what a person writes is in no address, which proxies log. `null` for others. */
function queryOf(text: string, screen: Screen | undefined): Fields | null {
  const fields = fieldsIn(text);
  const allowed = (field: string, value: string): boolean =>
    field === "done" ? Object.hasOwn(doneWords, value) : screen?.query?.[field]?.test(value) === true;
  return fields !== null && [...fields].every(([field, value]) => allowed(field, value)) ? fields : null;
}

type Checked =
  | { readonly person: Person; readonly form: Fields }
  | { readonly refusal: PageRefusal; readonly form: Fields | null };

/**
 * A form counts only if it is of our own page, of this person, and of this session. Its origin is exact, and it must be there:
 * a browser sends it with every form, and cookies go along from other ports and sites, too.
 */
async function checkForm(request: PageRequest, person: Person | null, parts: PageParts): Promise<Checked> {
  const { origin, "sec-fetch-site": site = "same-origin" } = request.headers;
  if (origin !== parts.origin() || site !== "same-origin") return { refusal: "page-origin", form: null };
  const form = await request.readForm(person === null ? unknownBytesMax : parts.formBytesMax);
  if (person === null) return { refusal: "page-session", form };
  if (form === null) return { refusal: "page-body", form };
  return isSame(form.get("key") ?? "", person.formKey) ? { person, form } : { refusal: "page-form", form };
}

async function show({ screen, under }: Route, visit: Visit): Promise<PageAnswer> {
  const shown = await orProblem(async () => (await screen.look?.(visit)) ?? notFound);
  return await pageOf(shown, visit, under);
}

async function act({ screen, under }: Route, visit: Visit, parts: PageParts): Promise<PageAnswer> {
  const done = await orProblem<Shown | Done | Download | Left>(async () => {
    await using opened = screen.isReading === true ? null : ((await parts.toChange?.()) ?? null);
    return (await screen.act?.({ ...visit, runtime: opened?.runtime ?? visit.runtime })) ?? notFound;
  }, visit.form.get("text"));
  if ("done" in done) return redirect(visit.to(done.to, { done: done.done }).toString());
  if ("file" in done) return downloadOf(done);
  if ("left" in done) return leaving(visit.person, parts, done.left);
  return await pageOf(done, visit, under);
}

const downloadOf = ({ file, type, content }: Download): PageAnswer => ({
  status: 200,
  headers: { ...pageHeaders, "Content-Type": type, "Content-Disposition": `attachment; filename="${file}"` },
  body: content,
});

async function pageOf(shown: Shown, visit: Visit, under: string): Promise<PageAnswer> {
  return { status: shown.status ?? 200, headers: pageHeaders, body: await framed(shown, visit, under) };
}

const nothing = html`<p>There is nothing at this address any more.</p>`;
const notFound: Shown = { title: "Nothing here", status: 404, body: nothing };

const statuses: Readonly<Record<string, number>> = {
  BUSY: 503,
  CLOSED: 503,
  ENTRY_NOT_FOUND: 404,
  READ_ONLY: 403,
  VERSION_CONFLICT: 409,
};

/** A failure is shown in its own words, which name no place of the machine, with the text that the person has written. */
async function orProblem<Result>(work: () => Promise<Result>, text = ""): Promise<Result | Shown> {
  try {
    return await work();
  } catch (error) {
    const isNothing = error instanceof NothingHere;
    if (!isNothing && !(error instanceof ToolError)) throw error;
    const shown = isNothing ? notFound : problemOf(error);
    return { ...shown, body: html`${shown.body} ${unsent(text)}` };
  }
}

const problemOf = ({ code, message }: ToolError): Shown => ({
  title: "That did not work",
  status: statuses[code] ?? 422,
  body: html`<p>${message}</p>`,
});

/**
 * Ends the session, and leads on to a page that changes a cookie once more: a browser keeps the page before for its back button, and
 * lets it go only when a cookie changes after that.
 */
function leaving(person: Person, { base, door }: PageParts, how: Left["left"]): PageAnswer {
  const headers = door.leave(person);
  if (typeof how !== "string") return barePage(how, headers);
  const next = addressBelow(base, how === erased ? ["left", erased] : ["left"]);
  const body = html`<p><a href="${next}">Go on</a></p>`;
  return barePage({ title: "One moment", body }, headers, html`<meta http-equiv="refresh" content="0;url=${next}" />`);
}

const erased = "erased";

/** For somebody who has left. */
async function left(isErased: boolean, { door }: PageParts): Promise<PageAnswer> {
  const { headers, shown } = await door.left();
  const title = isErased ? "Erased" : shown.title;
  const body = html`${isErased ? html`<p>Nothing is kept of you here any more.</p>` : null}${shown.body}`;
  return barePage({ title, body }, headers);
}

/** What a person has written is never lost: it is shown again. */
const refused = ({ refusal, form }: { refusal: PageRefusal; form: Fields | null }, request: PageRequest): PageAnswer =>
  refusedPage(refusal, request, unsent(form?.get("text") ?? ""));

const unsent = (text: string): Markup | null =>
  text === ""
    ? null
    : html`<label for="text"
        >Your text was not saved. Copy it, and begin again.<textarea id="text" readonly>${editable(text)}</textarea>
      </label>`;
