/**
 * The door of `memcell open`, for one person on their own machine: a link that works once and for a minute, and a session that is
 * bound to a path which only its pages have. Cookies know no ports, so the path keeps another program on the machine out.
 */
import { randomBytes } from "node:crypto";

import { addressBelow, html } from "../../markup/markup.ts";
import { barePage, refusedPage } from "./frame.ts";
import { cookie, cookieIn, isSame, secret } from "./page-request.ts";
import type { Cookie, Door, PageAnswer, PageRequest } from "./page-request.ts";
import type { Person } from "./screens/visit.ts";

const leftMs = 5_000;
const open = "open";

export class OneTimeLink implements Door, Disposable {
  readonly leaving = "Close this page";
  /** The path of the page. */
  readonly base = `/m/${randomBytes(16).toString("hex")}`;
  readonly #cookie: Cookie = { name: "memcell", path: this.base, sameSite: "Strict", isSecure: false };
  readonly #person: Person;
  readonly #session = secret();
  readonly #idleMs: number;
  readonly #onOver: (how: Ending) => void;
  /** Ends the page when nobody uses it. */
  #timer: NodeJS.Timeout;
  /** `null`: it was used. */
  #token: string | null = secret();
  #isOver = false;

  constructor({ userId, mayChange, linkMs, idleMs, onOver }: OneTimeLinkOptions) {
    this.#person = { userId, mayChange, formKey: secret(), sessionId: "" };
    this.#idleMs = idleMs;
    this.#onOver = onOver;
    this.#timer = setTimeout(() => this.#end("not opened"), linkMs);
  }

  /** The path of the link. Whoever has it first comes in. */
  get path(): string {
    return `${this.base}/${open}/${this.#token ?? ""}`;
  }

  async personOf({ headers }: PageRequest): Promise<Person | null> {
    const sent = cookieIn(headers, this.#cookie.name);
    if (this.#isOver || sent === null || !isSame(sent, this.#session)) return null;
    this.#used();
    return this.#person;
  }

  async answer(request: PageRequest): Promise<PageAnswer | null> {
    const [name, token = "", ...others] = request.names;
    if (name !== open || request.method !== "GET") return null;
    const isIt = this.#token !== null && others.length === 0 && request.query === "" && isSame(token, this.#token);
    if (!isIt || this.#isOver) return refusedPage("page-link", request);
    this.#token = null;
    this.#used();
    // A browser sends a strict cookie only on the way from a page of ours, and this answer is that page.
    const start = addressBelow(this.base, []);
    const head = html`<meta http-equiv="refresh" content="0;url=${start}" />`;
    const body = html`<p><a href="${start}">Open the page</a></p>`;
    return barePage({ title: "Memory", body }, { "Set-Cookie": cookie(this.#cookie, this.#session, null) }, head);
  }

  async enter(request: PageRequest): Promise<PageAnswer> {
    return refusedPage("page-session", request);
  }

  leave(): PageAnswer["headers"] {
    this.#isOver = true;
    clearTimeout(this.#timer);
    // The server ends when the browser has been shown that, or does not ask for it.
    this.#timer = setTimeout(() => this.#end("closed"), leftMs);
    return { "Set-Cookie": cookie(this.#cookie, "", 0) };
  }

  async left(): ReturnType<Door["left"]> {
    if (this.#isOver) this.#end("closed");
    return {
      headers: { "Set-Cookie": cookie(this.#cookie, "", 0), "Clear-Site-Data": '"cache"' },
      shown: { title: "Closed", body: html`<p>To open the page again, use <code>memcell open</code>.</p>` },
    };
  }

  /** Ends the page, if it has not ended. */
  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    this.#isOver = true;
  }

  #used(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#end("not used"), this.#idleMs);
  }

  #end(how: Ending): void {
    this[Symbol.dispose]();
    this.#onOver(how);
  }
}

/** Why a page has ended: the person has closed it, the link was not followed, or nobody has used it for too long. */
type Ending = "closed" | "not opened" | "not used";

interface OneTimeLinkOptions {
  readonly userId: string;
  /** Whether the person may do more than look. */
  readonly mayChange: boolean;
  /** After how long the page ends if nobody follows the link. */
  readonly linkMs: number;
  /** After how long without use the page ends. */
  readonly idleMs: number;
  readonly onOver: (how: Ending) => void;
}
