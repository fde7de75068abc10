import { isAtLeast } from "./origin.ts";
import type { OriginClass } from "./origin.ts";

/**
 * Where the present text of an entry comes from, as a host tells it to programs. The host takes it from its history; no
 * plugin, model or text of a user has a part in it.
 */
export interface EntryOrigin {
  /** The scope of the entry's file; for a shared store `store:<uuid>`. */
  readonly scope: string;
  /** The file's path inside the scope. */
  readonly path: string;
  /**
   * What lines for models call it: the entry's name if its plugin says which file has which entry, otherwise the path;
   * in another's store with the store's id before it. Only characters that a path can have.
   */
  readonly name: string;
  /** Whose words it has. */
  readonly class: OriginClass;
  /** How far it is trusted: never more than its class and everything that its writer had seen, unless it was approved. */
  readonly trust: OriginClass;
  /** When it was written, UTC, ISO 8601; `null` if it has been changed by hand since, or if nobody knows. */
  readonly at: string | null;
}

/** Whether the user has written or approved it: it needs no label. */
export const isUsersOwn = (trust: OriginClass): boolean => isAtLeast(trust, "direct_user");
