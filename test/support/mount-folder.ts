/** A fresh folder to mount in. Whatever was mounted below it is unmounted again, however the process ends. */
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, statfsSync } from "node:fs";
import type { Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface MountFolder extends Disposable {
  readonly path: string;
}

/**
 * Unmounts the newest first, since a loop device's image may lie on another mount. Loop devices that detach by
 * themselves on unmounting need nothing more. Ends with 1 when somebody still had a file open: such a mount goes away as
 * soon as that file is closed.
 */
const unmountAll = `
code=0
for point in $(awk -v root="$1/" 'index($5, root) == 1 { print $5 }' /proc/self/mountinfo | tac); do
  umount "$point" 2>/dev/null || { echo "$point"; umount --lazy "$point"; code=1; }
done
rm -rf --one-file-system "$1"
exit $code
`;

/** Why nothing can be mounted here, or `null` when it seems possible: a container may refuse it still. */
export function whyNoMounting(): string | null {
  if (process.platform !== "linux") return "loop devices and FUSE are Linux's";
  if (process.getuid?.() !== 0) return "only root can mount";
  const lacking = ["/dev/fuse", "/dev/loop-control"].filter((device) => !existsSync(device));
  return lacking.length > 0 ? `no ${lacking.join(" and no ")}` : null;
}

/** What it holds should be small: the folder lies in main memory where there is enough of it. */
export function mountFolder(): MountFolder {
  const path = mkdtempSync(join(roomyFolder(), "memcell-mount-"));
  const guard = startGuard(path);
  return {
    path,
    [Symbol.dispose]: () => {
      const { status, stdout, stderr } = spawnSync("sh", ["-c", unmountAll, "sh", path], { encoding: "utf8" });
      guard.kill("SIGKILL");
      if (status !== 0) throw new Error(`Cannot unmount at once, files are still open: ${stdout}${stderr}`);
    },
  };
}

/**
 * A shell that cleans up when its standard input ends: that happens at the latest when this process is gone, even killed.
 * It leads a session of its own, so that an interrupt from the terminal does not end it before it has done its work.
 */
function startGuard(path: string): ReturnType<typeof spawn> {
  const guard = spawn("sh", ["-c", `cat; ${unmountAll}`, "sh", path], {
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
  });
  guard.unref();
  (guard.stdin as Socket).unref();
  return guard;
}

/** Main memory makes a flush cost next to nothing; half a gibibyte is many disks of the sizes that tests use. */
function roomyFolder(): string {
  try {
    const { bavail, bsize } = statfsSync("/dev/shm");
    return bavail * bsize > 512 * 2 ** 20 ? "/dev/shm" : tmpdir();
  } catch {
    return tmpdir();
  }
}
