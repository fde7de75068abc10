/** How a person comes in and leaves: by signing in, or by the link that `memcell open` gives the browser. */
import type { PageAnswer, PageRequest } from "./page-request.ts";
import type { Person } from "./visit.ts";

export interface Door {
  /** What leaving is called. */
  readonly leaving: "Sign out" | "Close";
  /** Who has sent a request; `null` if nobody is signed in. */
  personOf(request: PageRequest): Promise<Person | null>;
  /** Answers a request at an address of the door's own; `null` if it is none. */
  answer(request: PageRequest): Promise<PageAnswer | null>;
  /** Answers somebody who looks at a screen and is not signed in. */
  enter(request: PageRequest): Promise<PageAnswer>;
  /** Ends the session. Returns the headers for it. */
  leave(person: Person): Readonly<Record<string, string | readonly string[]>>;
  /** The page that is shown to somebody who has left. */
  readonly left: { readonly title: string; readonly words: string };
}
