/** Reads what it is told, and answers with what it is told. */
import { Scope } from "../../../plugin/kit/capabilities.ts";

interface Play {
  /** Paths and texts. */
  readonly write?: Readonly<Record<string, string>>;
  readonly read?: readonly string[];
  readonly trash?: readonly string[];
  readonly fails?: boolean;
  /** Beside `ok` and `message`. */
  readonly answer?: object;
  /** The length of the data, which no input could hold. */
  readonly dataChars?: number;
}

const scope = new Scope("shown");

function play({ write = {}, read = [], trash = [], fails = false, answer = { data: {} }, dataChars }: Play): number {
  for (const [path, text] of Object.entries(write)) scope.write(path, text);
  for (const path of read) scope.read(path);
  for (const path of trash) scope.trash(path);
  if (fails) throw new Error(JSON.stringify({ ok: false, error: { code: "ENTRY_NOT_FOUND", message: "Played" } }));
  const long = dataChars === undefined ? {} : { data: "x".repeat(dataChars) };
  Host.outputString(JSON.stringify({ ok: true, message: "Played", ...long, ...answer }));
  return 0;
}

const playDerived = (): number => play(JSON.parse(scope.read("index.json") ?? "{}") as Play);

export const show = (): number => play(JSON.parse(Host.inputString()) as Play);
export const shown_index: () => number = playDerived;
export const shown_entries: () => number = playDerived;
export const inspect_shown = (): number => play({ answer: { data: { findings: [], findingsHidden: 0 } } });
