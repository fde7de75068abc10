/** The naive way and the builds, each in a process of its own. */
import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { isRead } from "./work.ts";
import type { Asked, Done, Kind } from "./work.ts";

export interface Running {
  readonly name: string;
  readonly can: (kind: Kind) => boolean;
  readonly work: (kind: Kind, windowMs: number) => Promise<Done>;
  readonly end: () => Promise<void>;
}

export function startBuild(name: string, build: string, folder: string): Promise<Running> {
  return start("build-process.js", [build, join(folder, name)], name, () => true);
}

/** It reads nothing back. */
export function startNaive(folder: string): Promise<Running> {
  return start("naive-process.js", [join(folder, "naive")], "naive", (kind) => !isRead(kind));
}

async function start(script: string, args: string[], name: string, can: Running["can"]): Promise<Running> {
  const path = fileURLToPath(new URL(script, import.meta.url));
  const child = fork(path, args, { execArgv: ["--disable-warning=ExperimentalWarning"] });
  const died = once(child, "exit").then(() => Promise.reject(new Error(`The process of ${name} has ended`)));
  died.catch(() => {});
  await Promise.race([once(child, "message"), died]);
  return {
    name,
    can,
    work: async (kind, windowMs) => {
      child.send({ kind, windowMs } satisfies Asked);
      const [done] = await Promise.race([once(child, "message"), died]);
      return done as Done;
    },
    end: async () => {
      const ended = once(child, "exit");
      child.send("end");
      await ended;
    },
  };
}
