/** How a person comes in and leaves: by signing in, or by the link that `memcell open` gives the browser. */
import type { PageAnswer, PageRequest } from "./page-request.ts";
import type { Person, Shown } from "./screens/visit.ts";

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
