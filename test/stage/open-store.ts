/** Stores of the host's sources, opened as tests use them. A runtime of the package is given a store of the package. */
import type { NoteOfUser, StoreDefinition } from "../../host/store/definition.ts";
import type { Engine } from "../../host/store/engine.ts";
import { fileStore } from "../../host/store/files/define-files.ts";
import { postgresStore } from "../../host/store/postgres/define-postgres.ts";
import { Store } from "../../host/store/store.ts";
import { withHolds } from "./store-holds.ts";
import type { OpenedStore } from "./store-holds.ts";

export { memoryStore } from "../../host/store/memory/memory-engine.ts";
export { fileStore, postgresStore };

export const openEngine = (engine: Engine, isReadOnly = false): OpenedStore =>
  withHolds(new Store(engine, isReadOnly), engine);

export const openStore = (definition: StoreDefinition, note: NoteOfUser = () => {}): OpenedStore =>
  openEngine(definition.open(note));

export const openFiles = (dir: string, note?: NoteOfUser): OpenedStore => openStore(fileStore({ dir }), note);

export const openPostgres = (options: Parameters<typeof postgresStore>[0]): OpenedStore =>
  openStore(postgresStore(options));
