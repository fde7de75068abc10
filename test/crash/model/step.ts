/** What a script has the store, people and the machine do, one after the other. */
import type { GateOperation } from "./gate-operation.ts";
import type { Operation } from "./operation.ts";
import type { StoreOperation } from "./store-operation.ts";

export type AnyOperation = Operation | StoreOperation;

export type Step =
  | AnyOperation
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
  | { readonly do: "edit meanwhile"; readonly path: string; readonly text: string; readonly call: AnyOperation }
  /** Another process does the following steps. */
  | { readonly do: "change process"; readonly to: number }
  /** A call that writes nothing. */
  | { readonly do: "look" }
  /** The same, on one of several stores. */
  | { readonly do: "look at one"; readonly choice: number }
  /** Erases the user, if the subject can. */
  | { readonly do: "erase" }
  /** Retires the WAL and ends the process. */
  | { readonly do: "close" }
  /** All processes end without retiring anything. The machine shuts down cleanly and starts again. */
  | { readonly do: "restart" }
  /** The next flush of this file or folder fails, or the one after some more. */
  | { readonly do: "fail flush"; readonly name: string; readonly after?: number };
