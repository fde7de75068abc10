/** What a script has the store, people and the machine do, one after the other. */

/** A tool's operation on a user's memory: a fact and its line in the index always change together. */
export type UserOperation =
  /** To recreate: the fact could not be parsed, so it moves to the trash, and a new one takes its place. */
  | { readonly do: "upsert" | "recreate"; readonly name: string; readonly body: string }
  /** To restore: brings back the fact that was deleted last. */
  | { readonly do: "delete" | "restore"; readonly name: string };

/** Changes of several shared stores, one after the other. A store is a letter. */
export type StoreOperation =
  /** Writes an entry and a line of the index in each of these stores, such as "ab". */
  | { readonly do: "put"; readonly in: string; readonly name: string; readonly body: string }
  /** Moves an entry from one store to another; the old one goes to the trash, or is removed. */
  | { readonly do: "move"; readonly from: string; readonly to: string; readonly name: string; readonly keeps: boolean }
  /** Changes the grants of a store, and an entry of each of the stores. */
  | { readonly do: "grant"; readonly of: string; readonly in: string; readonly text: string };

export const isOfStores = (step: Step): step is StoreOperation =>
  step.do === "put" || step.do === "move" || step.do === "grant";

/** An operation that needs a whole runtime. */
export interface GateOperation {
  readonly do: "gate";
  /**
   * The user writes; the model writes of its own accord, so that who reads it is trusted less; the text of a web page
   * waits. The oldest write that waits, if there is one, is approved, or approved as it was corrected, or rejected. A run reads an entry. What the model
   * has inferred is taken back. An entry of the user's own store is renamed into a chat's.
   */
  readonly act: "write" | "infer" | "wait" | "approve" | "reject" | "read" | "undo" | "rename";
  /** An entry. Of an approval: what the owner adds to the text; nothing if it is empty. */
  readonly name: string;
  /** Of one that reads: the run, if it is not the usual one. */
  readonly body: string;
}

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
  /** Settles the journal and ends the process. */
  | { readonly do: "close" }
  /** All processes end without retiring anything. The machine shuts down cleanly and starts again. */
  | { readonly do: "restart" }
  /** The next flush of this file or folder fails, or the one after some more. */
  | { readonly do: "fail flush"; readonly name: string; readonly after: number }
  /** From now on, no file of this life of the disk becomes longer, and none is made but empty ones. */
  | { readonly do: "fill" };

/** Steps by their words: `stepsOf("upsert one; edit one.md; close")`. */
export const stepsOf = (script: string): Step[] => script.split("; ").map((words, at) => stepOf(words, at));

/** A step ends with a text: none is one by the step's number in its script, a number is one of so many bytes. */
export function stepOf(words: string, number = 0): Step {
  const [verb = "", ...rest] = words.split(" ");
  const [first = "", second = "", third = ""] = rest;
  const textFrom = (at: number): string => textOf(rest.slice(at).join(" "), number);
  switch (verb) {
    case "upsert":
    case "recreate":
      return { do: verb, name: first, body: textFrom(1) };
    case "delete":
    case "restore":
      return { do: verb, name: first };
    case "put":
      return { do: verb, in: first, name: second, body: textFrom(2) };
    case "move":
      return { do: verb, from: first, to: second, name: third, keeps: rest[3] === "trashed" };
    case "grant":
      return { do: verb, of: first, in: second, text: textFrom(2) };
    case "write":
    case "infer":
    case "wait":
      return { do: "gate", act: verb, name: first, body: textFrom(1) };
    case "approve":
    case "reject":
    case "read":
    case "undo":
    case "rename":
      return { do: "gate", act: verb, name: first, body: second };
    case "edit":
      return { do: verb, path: first, text: `${textFrom(1)}\n` };
    case "remove":
      return { do: "edit", path: first, text: null };
    case "save":
    case "copy":
      return { do: "edit", path: first, text: factOf(second, textFrom(2)), isOld: verb === "copy" };
    case "meanwhile":
      return {
        do: "edit meanwhile",
        path: first,
        text: "Mine.\n",
        call: stepOf(rest.slice(1).join(" "), number) as ChangeOperation,
      };
    case "process":
      return { do: "change process", to: Number(first) };
    case "fail":
      return { do: "fail flush", name: first, after: Number(second) };
    case "look-at":
      return { do: "look at one", home: first, writes: second !== "reading" };
    case "look":
    case "close":
    case "erase":
    case "fill":
    case "restart":
      return { do: verb };
    default:
      throw new RangeError(`No step "${words}"`);
  }
}

export const factOf = (name: string, body: string): string => `---\nname: ${name}\n---\n${body}\n`;

const textOf = (text: string, number: number): string =>
  text === "" ? `Text ${number}.` : /^\d+$/.test(text) ? String(number % 10).repeat(Number(text)) : text;
