/** Operations that need a whole runtime: what waits, is approved or rejected, is read by a run, and is undone. */

export interface GateOperation {
  readonly do: "gate";
  readonly act: GateAct;
  /** An entry. */
  readonly name: string;
  /** Of one that reads: the run, if it is not the usual one. */
  readonly body: string;
}

export type GateAct =
  /** The user writes. */
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

export const gate = (act: GateAct, name = "", body = ""): GateOperation => ({ do: "gate", act, name, body });
