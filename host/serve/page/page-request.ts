/** A request for the page, as far as it is checked, who lets a person in, and the answer. */
import { randomBytes, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";

import type { Fields, Person, Shown } from "./screens/visit.ts";

export interface PageRequest {
  readonly method: string;
  /** The names in the address below the page, decoded once. */
  readonly names: readonly string[];
  /** Without its question mark. */
  readonly query: string;
  readonly headers: IncomingHttpHeaders;
  /** Reads the body, of at most so many bytes. `null`: it is longer, or no form in UTF-8. */
  readonly readForm: (bytesMax: number) => Promise<Fields | null>;
  /** The address that it comes from. */
  readonly peer: string | undefined;
  /** Aborted when the client is gone. */
  readonly gone: AbortSignal;
  /** Counts the request of a person, until it is answered. Throws if there are too many. */
  readonly admit: (userId: string) => void;
  /** Records a refusal. */
  readonly record: (reason: PageRefusal) => void;
}

export interface PageAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly body: string | AsyncIterable<Uint8Array>;
}

/** How a person comes in and leaves: by signing in, or by the link that `memcell open` gives the browser. */
export interface Door {
  /** What leaving is called. */
  readonly leaving: "Sign out" | "Close this page";
  /** Who has sent a request; `null` if nobody is signed in. */
  personOf(request: PageRequest): Promise<Person | null>;
  /** Answers a request at an address of the door's own; `null` if it is none. */
  answer(request: PageRequest): Promise<PageAnswer | null>;
  /** Answers somebody who looks at a screen and is not signed in. */
  enter(request: PageRequest): Promise<PageAnswer>;
  /** Ends the session. Returns the headers that end it in the browser. */
  leave(person: Person): PageAnswer["headers"];
  /** What is shown to somebody who has left, and headers that make the browser forget the pages of before. */
  left(): Promise<{ readonly headers: PageAnswer["headers"]; readonly shown: Shown }>;
}

/** Why a request for the page was refused, as the audit log has it. */
export type PageRefusal = keyof typeof pageRefusals;

const undone = "Nothing was done";

export const pageRefusals = {
  "page-unknown": { status: 404, title: "Nothing here", words: "There is nothing at this address." },
  "page-origin": { status: 403, title: undone, words: "This form was sent by another page." },
  "page-session": { status: 401, title: undone, words: "You are no longer signed in." },
  "page-form": { status: 403, title: undone, words: "This form is from an earlier visit." },
  "page-rights": { status: 403, title: undone, words: "You may only look here." },
  "page-body": { status: 400, title: undone, words: "The form could not be read." },
  "page-link": {
    status: 403,
    title: "Nothing to see",
    words: "This link was used before or is old. Open the page again.",
  },
  "page-sign-in": { status: 403, title: "Not signed in", words: "You are not signed in." },
} as const;

/** What nobody can guess. */
export const secret = (): string => randomBytes(32).toString("base64url");

/** Compares in a time that does not depend on how much is right. */
export function isSame(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}

/**
 * The fields of a form or a query; `null` if it is none, has bytes that no browser leaves as they are, or has a field twice.
 * A browser sends every line end as CRLF: here it is LF.
 */
export function fieldsIn(text: string): Fields | null {
  if (/[^\x21-\x7e]/.test(text)) return null;
  const pairs = text === "" ? [] : text.split("&").map((pair) => pair.split("="));
  const fields = new Map<string, string>();
  try {
    for (const [name = "", value = "", ...others] of pairs) {
      const [field, content] = [name, value].map((part) => decodeURIComponent(part.replaceAll("+", " ")));
      if (others.length > 0 || field === undefined || content === undefined || fields.has(field)) return null;
      fields.set(field, content.replaceAll("\r\n", "\n"));
    }
  } catch {
    return null;
  }
  return fields;
}

/** The value of a cookie; `null` without one. Of two with the name, none counts: another path or host can have set one. */
export function cookieIn(headers: IncomingHttpHeaders, name: string): string | null {
  const values = (headers.cookie ?? "").split(";").flatMap((pair) => {
    const [own = "", ...value] = pair.trim().split("=");
    return own === name ? [value.join("=")] : [];
  });
  return values.length === 1 ? (values[0] ?? null) : null;
}

export interface Cookie {
  readonly name: string;
  readonly path: string;
  readonly sameSite: "Strict" | "Lax";
  readonly isSecure: boolean;
}

/** A cookie that only this server reads, and that no script gets. `maxAgeS`: 0 removes it; `null`: until the browser is closed. */
export function cookie({ name, path, sameSite, isSecure }: Cookie, value: string, maxAgeS: number | null): string {
  const age = maxAgeS === null ? "" : `; Max-Age=${maxAgeS}`;
  return `${name}=${value}; Path=${path}; HttpOnly; SameSite=${sameSite}${isSecure ? "; Secure" : ""}${age}`;
}
