/** A process that swaps a user's folder or file for a link to another user's, as fast as it can. */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { programFolders } from "../support/run-command.ts";

export interface SwapTarget {
  readonly kind: "folder" | "file";
  /** The folder or file that the host uses. */
  readonly real: string;
  /** The target of the link that is in its place half of the time. */
  readonly victim: string;
}

export interface SwapAttack {
  /** Puts the real folder or file back. Resolves to the number of swaps. */
  stop(): Promise<number>;
}

/** Compiles the attacker. Returns the reason if this machine cannot. */
export function buildAttacker(folder: string): { program: string } | string {
  if (process.platform !== "linux") return "renameat2 is Linux's";
  const program = join(folder, "swap-attacker");
  const source = fileURLToPath(new URL("swap-attacker.c", import.meta.url));
  try {
    const env = { ...process.env, PATH: programFolders.join(":") };
    execFileSync("gcc", ["-O2", "-o", program, source], { env, stdio: "pipe" });
    return { program };
  } catch (error) {
    return `no gcc that works: ${(error as Error).message.split("\n")[0]}`;
  }
}

/** Resolves when the attacker has started. */
export async function startAttack(program: string, { kind, real, victim }: SwapTarget): Promise<SwapAttack> {
  const link = `${real}.swap`;
  symlinkSync(victim, link);
  const attacker = spawn(program, [kind, real, link, victim], { stdio: ["pipe", "pipe", "inherit"] });
  let printed = "";
  attacker.stdout.setEncoding("utf8").on("data", (text: string) => (printed += text));
  await once(attacker.stdout, "data");
  return {
    async stop() {
      attacker.stdin.end();
      const [code] = (await once(attacker, "close")) as [number | null];
      if (code !== 0) throw new Error(`The attacker ended with ${code}: ${printed}`);
      return Number(printed.split("\n")[1]);
    },
  };
}
