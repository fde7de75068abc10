/** What a screen is given, and what it returns. */
import type { Address, Markup } from "../../../markup/markup.ts";
import type { Runtime } from "../../../runtime/api.ts";
import type { CallContext } from "../../../values/call-context.ts";

/** Somebody who has come in by the door. */
export interface Person {
  readonly userId: string;
  /** Whether the person may decide, edit and erase, or only look. */
  readonly mayChange: boolean;
  /** What each of the person's forms has. Nobody else knows it. */
  readonly formKey: string;
  /** What the door needs to know again who leaves. */
  readonly sessionId: string;
}

export interface Visit {
  /** For a person who may only look, the read-only view. */
  readonly runtime: Runtime;
  readonly ctx: CallContext;
  readonly person: Person;
  /** The names in the address, and those behind the first, which is the screen's. */
  readonly here: readonly string[];
  readonly names: readonly string[];
  /** The address of a screen. */
  readonly to: (names: readonly string[], query?: Readonly<Record<string, string>>) => Address;
  /** What the address asks for: closed words only. */
  readonly query: Fields;
  /** What the person has sent; empty for a screen that is looked at. */
  readonly form: Fields;
  /** The largest text that a form can send, in bytes. */
  readonly formBytesMax: number;
  /** What leaving is called. */
  readonly leaving: string;
}

export type Fields = ReadonlyMap<string, string>;

/** A page to show. */
export interface Shown {
  readonly title: string;
  readonly body: Markup;
  /** Default: 200. */
  readonly status?: number;
}

/** What a person is told after something was done. Only these words can be in an address. */
export const doneWords = {
  added: "Added.",
  approved: "Approved. It counts as your own words now.",
  cleared: "What they had written in your shared notebook is in the trash now.",
  confirmed: "Confirmed. It counts as your own words now.",
  emptied: "Deleted for good.",
  forgotten: "Moved to the trash. Assistants no longer see it.",
  granted: "Shared.",
  joined: "You see this shared notebook again.",
  quit: "You no longer see this shared notebook. To see it again, enter its number below.",
  rejected: "Rejected. Nothing was changed.",
  restored: "Put back.",
  revoked: "No longer shared.",
  same: "Nothing was changed: the text is the same as before.",
  saved: "Saved. The text before is below.",
} as const;

/** Something was done. The browser is sent to a screen that says so. */
export interface Done {
  readonly to: readonly string[];
  readonly done: keyof typeof doneWords;
}

/** A file for the person to keep. */
export interface Download {
  readonly file: string;
  readonly type: string;
  readonly content: AsyncIterable<Uint8Array>;
}

/** The session ends, because the person wants that or has erased everything; another page says so, or this one. */
export interface Left {
  readonly left: "closed" | "erased" | Shown;
}

export interface Screen {
  /** Shows it. */
  readonly look?: (visit: Visit) => Promise<Shown>;
  /** Does what its form asks for. */
  readonly act?: (visit: Visit) => Promise<Shown | Done | Download | Left>;
  /** Whether `act` changes nothing, so that a person who may only look can use it. Default: no. */
  readonly isReading?: boolean;
  /** The words that the address may ask for, besides those of `done`. Default: none. */
  readonly query?: Readonly<Record<string, RegExp>>;
}

/** The address names nothing that there is. */
export class NothingHere extends Error {}
