/** An entry as the plugin returns it. */
export interface EntryData {
  readonly path: string;
  readonly key: string;
  readonly storeId: string;
}

/** The same without its path, which is no address on these routes. */
export function shownEntry({ path: _path, ...entry }: EntryData): Omit<EntryData, "path"> {
  return entry;
}
