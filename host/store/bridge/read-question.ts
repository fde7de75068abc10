/** What crosses the bridge between a reading thread and the main thread: one question, then its answer. */
import type { ListedFile } from "../../../shared/abi.ts";
import type { ErrorCode } from "../../../shared/errors.ts";
import type { UserId } from "../../values/user-id.ts";
import type { ScopeSize } from "../scope-size.ts";

/** What can be asked, and the value of the answer. */
export interface ReadAnswers {
  read: Uint8Array | null;
  list: ListedFile[];
  sizeOf: number | null;
  scopeSize: ScopeSize;
}

export interface ReadQuestion<Asked extends keyof ReadAnswers = keyof ReadAnswers> {
  readonly asked: Asked;
  /** The hold in which the question is asked; `null` if the store needs none. */
  readonly hold: number | null;
  /** `null` if a shared store is asked for, which the scope names. */
  readonly userId: UserId | null;
  readonly scope: string;
  /** A path, the prefix of a listing, or empty. */
  readonly path: string;
}

/** An error loses its class on the way, so the reader creates it again. */
export type ReadAnswer =
  | { readonly isOk: true; readonly value: ReadAnswers[keyof ReadAnswers] }
  | { readonly isOk: false; readonly code: ErrorCode; readonly message: string };
