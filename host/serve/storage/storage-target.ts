/** The paths of the storage routes. */

export type StorageTarget =
  | { readonly kind: "entries" }
  /** `key` is still percent-encoded. */
  | { readonly kind: "entry"; readonly key: string }
  | { readonly kind: "notes" };

const root = "/api/storage/memory";

const methods = {
  entries: ["GET", "POST", "DELETE"],
  entry: ["GET", "PUT", "DELETE"],
  notes: ["GET", "PUT", "POST", "DELETE"],
} as const satisfies Record<StorageTarget["kind"], readonly string[]>;

/** Finds the target of a path without a query; `null` if the path is another's. */
export function storageTargetOf(path: string): StorageTarget | null {
  if (path === root) return { kind: "entries" };
  if (path === `${root}-scoped`) return { kind: "notes" };
  return path.startsWith(`${root}/`) ? { kind: "entry", key: path.slice(root.length + 1) } : null;
}

export const methodsOf = ({ kind }: StorageTarget): readonly string[] => methods[kind];

/** What no other endpoint may be below while these routes are on. */
export const storagePrefix = "/api/storage/";

/** Whether whoever asks for a path expects the answers of these routes, also where there is none. */
export const isStoragePath = (path: string): boolean => `${path}/`.startsWith(storagePrefix);
