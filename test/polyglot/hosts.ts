/** All hosts, and the state of each on this machine. */
import { whyShown } from "../shown-inputs.ts";
import type { HostKind, HostProgram } from "./host-kind.ts";
import { go } from "./prepare-go.ts";
import { java } from "./prepare-java.ts";
import { node } from "./prepare-node.ts";
import { python } from "./prepare-python.ts";
import { rust } from "./prepare-rust.ts";

export const hostKinds: readonly HostKind[] = [node, go, python, rust, java];

/** A host for the tests: built, missing with a reason, or failed to build although its toolchain exists. */
export interface PreparedHost extends Pick<HostKind, "language"> {
  readonly program: HostProgram | null;
  readonly missing: string | null;
  readonly failure: string | null;
}

/** A first build downloads and compiles everything, including an engine. */
const buildTimeoutMs = 15 * 60_000;

export async function prepareHost(kind: HostKind): Promise<PreparedHost> {
  const { language } = kind;
  const shown = language === "Rust" || language === "Java" ? whyShown(`the ${language} host`) : null;
  const missing = shown ?? (await kind.missing());
  const prepared = { language, program: null, missing, failure: null };
  if (missing !== null) return prepared;
  return await kind.prepare(AbortSignal.timeout(buildTimeoutMs)).then(
    (program) => ({ ...prepared, program }),
    (error: unknown) => ({ ...prepared, failure: String(error) }),
  );
}
