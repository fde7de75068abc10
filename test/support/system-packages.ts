/** Finds programs and headers that npm cannot install, and installs them if possible. */
import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { isAbsolute, join } from "node:path";

import { CommandFailure, programFolders, runCommand } from "./run-command.ts";

/**
 * Installs under the lock, unless another process has done so in the meantime. The kernel releases the lock however its
 * holder ends.
 */
const installScript = `
dpkg -s "$@" >/dev/null 2>&1 && exit
apt-get -q update && apt-get -q -y -o DPkg::Lock::Timeout=300 --no-install-recommends install "$@"
`;

/**
 * Makes sure that every program (a name on the search path) and file (an absolute path) exists. The keys say what to
 * look for, the values which Debian package has it. Installing can take minutes: call it from a hook or a test with a
 * long timeout.
 *
 * @returns `null` if all exist, else a sentence, also printed, that says what is missing and why it was not installed
 */
export async function requirePackages(programs: Readonly<Record<string, string>>): Promise<string | null> {
  const missing = missingFrom(programs);
  if (missing.length === 0) return null;
  const packages = [...new Set(missing.map((name) => programs[name] ?? name))];
  const lacking = `${missing.join(", ")} missing (Debian: ${packages.join(" ")})`;
  const failure = await install(packages, lacking);
  if (failure === null && missingFrom(programs).length === 0) return null;
  const reason = `${lacking}: ${failure ?? "the packages are installed and do not hold it"}`;
  console.warn(reason);
  return reason;
}

async function install(packages: readonly string[], lacking: string): Promise<string | null> {
  if (process.getuid?.() !== 0) return "only root can install packages";
  if (missingFrom({ "apt-get": "apt", flock: "util-linux" }).length > 0) return "no apt-get and flock on this system";
  console.log(`${lacking}: installing`);
  const lockFile = join(tmpdir(), "memcell-system-packages.lock");
  try {
    await runCommand("flock", [lockFile, "sh", "-c", installScript, "sh", ...packages], {
      DEBIAN_FRONTEND: "noninteractive",
    });
    return null;
  } catch (error) {
    if (error instanceof CommandFailure) return error.output.slice(error.output.lastIndexOf("\n") + 1);
    throw error;
  }
}

function missingFrom(programs: Readonly<Record<string, string>>): string[] {
  return Object.keys(programs).filter((name) => {
    if (isAbsolute(name)) return !existsSync(name);
    return !programFolders.some((folder) => existsSync(join(folder, name)));
  });
}
