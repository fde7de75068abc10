import { whyShown } from "../shown-inputs.ts";
/** All hosts, and the state of each on this machine. */
import type { HostKind, HostProgram } from "./host-kind.ts";
import { go } from "./prepare-go.ts";
import { java } from "./prepare-java.ts";
import { node } from "./prepare-node.ts";
import { python } from "./prepare-python.ts";
import { rust } from "./prepare-rust.ts";

/** In the order of the table. */
export const hostKinds: readonly HostKind[] = [node, go, python, rust, java];

/** A host for the tests: built, missing with a reason, or failed to build although its toolchain exists. */
export interface PreparedHost extends Pick<HostKind, "language" | "sdk"> {
  readonly program: HostProgram | null;
  readonly missing: string | null;
  readonly failure: string | null;
  readonly prepareS: number;
}

/** A first build downloads and compiles everything, including an engine. */
const buildTimeoutMs = 15 * 60_000;

export async function prepareHost(kind: HostKind): Promise<PreparedHost> {
  const { language, sdk } = kind;
  const shown = language === "Rust" || language === "Java" ? whyShown(`the ${language} host`) : null;
  const missing = shown ?? (await kind.missing());
  const prepared = { language, sdk, program: null, missing, failure: null, prepareS: 0 };
  if (missing !== null) return prepared;
  const start = performance.now();
  const prepareS = (): number => (performance.now() - start) / 1000;
  try {
    const program = await kind.prepare(AbortSignal.timeout(buildTimeoutMs));
    return { ...prepared, program, prepareS: prepareS() };
  } catch (error) {
    return { ...prepared, failure: String(error), prepareS: prepareS() };
  }
}
