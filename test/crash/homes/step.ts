/** What a script has the store, people and the machine do, one after the other. */

/** A tool's operation on a user's memory: a fact and its line in the index always change together. */
export type UserOperation =
  | { readonly do: "upsert"; readonly name: string; readonly body: string }
  /** The fact could not be parsed: it moves to the trash, and a new one takes its place. */
  | { readonly do: "recreate"; readonly name: string; readonly body: string }
  | { readonly do: "delete"; readonly name: string }
  /** Brings back the fact that was deleted last. */
  | { readonly do: "restore"; readonly name: string }
  /** One fact comes back as it was trashed, also over another one, and one that was not there goes to the trash. */
  | { readonly do: "undo"; readonly name: string; readonly made: string };

/** A change of several shared stores at once. A store is a letter. */
export type StoreOperation =
  /** Writes an entry and a line of the index in each of these stores, such as "ab". */
  | { readonly do: "put"; readonly in: string; readonly name: string; readonly body: string }
  /** Moves an entry from one store to another; the old one goes to the trash, or is removed. */
  | { readonly do: "move"; readonly from: string; readonly to: string; readonly name: string; readonly keeps: boolean }
  /** Changes the grants of a store, and an entry of each of the stores. */
  | { readonly do: "grant"; readonly of: string; readonly in: string; readonly text: string };

/** An operation that needs a whole runtime. */
export interface GateOperation {
  readonly do: "gate";
  readonly act: /** The user writes. */
    | "write"
    /** The model writes of its own accord: who reads the entry is trusted less. */
    | "infer"
    /** The text of a web page is to be written, and waits. */
    | "wait"
    /** About the oldest write that waits; nothing happens if there is none. */
    | "approve"
    | "reject"
    /** A run reads the entry. */
    | "read"
    /** What the model has inferred is taken back. */
    | "undo";
  /** An entry. */
  readonly name: string;
  /** Of one that reads: the run, if it is not the usual one. */
  readonly body: string;
}

export const gate = (act: GateOperation["act"], name = "", body = ""): GateOperation => ({
  do: "gate",
  act,
  name,
  body,
});

export type ChangeOperation = UserOperation | StoreOperation;

export type Step =
  | ChangeOperation
  | GateOperation
  /** A person saves a file, or removes it. */
  | {
      readonly do: "edit";
      readonly path: string;
      readonly text: string | null;
      /** The file keeps the time of an old original, as from `cp -a` or `mv`. */
      readonly isOld?: boolean;
    }
  /** The same, between the tool's reads and its commit. */
  | { readonly do: "edit meanwhile"; readonly path: string; readonly text: string; readonly call: ChangeOperation }
  /** Another process does the following steps. */
  | { readonly do: "change process"; readonly to: number }
  /** A call that writes nothing, but finishes unfinished work. */
  | { readonly do: "look" }
  /** The same, on one of several homes: with the locks while it works, or only before. */
  | { readonly do: "look at one"; readonly home: string; readonly writes: boolean }
  /** Erases the user, if the subject can. */
  | { readonly do: "erase" }
  /** Retires the WAL and ends the process. */
  | { readonly do: "close" }
  /** All processes end without retiring anything. The machine shuts down cleanly and starts again. */
  | { readonly do: "restart" }
  /** The next flush of this file or folder fails, or the one after some more. */
  | { readonly do: "fail flush"; readonly name: string; readonly after?: number };

export const upsert = (name: string, body: string): Step => ({ do: "upsert", name, body });
export const remove = (name: string): Step => ({ do: "delete", name });
export const restore = (name: string): Step => ({ do: "restore", name });
export const recreate = (name: string, body: string): Step => ({ do: "recreate", name, body });
export const put = (stores: string, name: string, body = `${name} in ${stores}.`): Step => ({
  do: "put",
  in: stores,
  name,
  body,
});
export const move = (from: string, to: string, name: string, keeps = false): Step => ({
  do: "move",
  from,
  to,
  name,
  keeps,
});
export const grant = (of: string, stores: string, text: string): Step => ({ do: "grant", of, in: stores, text });
export const edit = (path: string, text: string | null): Step => ({ do: "edit", path, text });
export const process = (to: number): Step => ({ do: "change process", to });
export const failFlush = (name: string, after = 0): Step => ({ do: "fail flush", name, after });
export const [look, close, erase]: [Step, Step, Step] = [{ do: "look" }, { do: "close" }, { do: "erase" }];
