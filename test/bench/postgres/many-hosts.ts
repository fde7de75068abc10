import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const program = fileURLToPath(new URL("host-process.js", import.meta.url));
const [users, seconds] = [50, 8] as const;

/** Upserts in a second, of 50 users who call one after the other, divided among some hosts. */
export async function throughputOf(hosts: number, url: string): Promise<number> {
  const share = Math.ceil(users / hosts);
  const running = Array.from({ length: hosts }, (_, at) => {
    const count = Math.min(share, users - at * share);
    const child = spawn(process.execPath, [program, url, `${at * share}`, `${count}`, `${seconds}`], {
      stdio: ["pipe", "pipe", "inherit"],
    });
    return { child, lines: createInterface(child.stdout)[Symbol.asyncIterator]() };
  });
  for (const { lines } of running) await lines.next();
  for (const { child } of running) child.stdin.write("go\n");
  const made = await Promise.all(running.map(async ({ lines }) => Number((await lines.next()).value)));
  await Promise.all(running.filter(({ child }) => child.exitCode === null).map(({ child }) => once(child, "exit")));
  return made.reduce((sum, each) => sum + each, 0) / seconds;
}
