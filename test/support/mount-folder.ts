/** A fresh folder for mounts. Everything mounted below it is unmounted again, however the process ends. */
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync } from "node:fs";
import { join } from "node:path";

import { atProcessEnd } from "./at-process-end.ts";
import { memoryDisk } from "./temporary-folder.ts";

export interface MountFolder extends Disposable {
  readonly path: string;
}

/**
 * Unmounts the newest first, since a loop device's image can be on another mount. Loop devices that detach
 * automatically need nothing more. Exits with 1 if a file is still open; that mount ends when the file is closed.
 */
const unmountAll = `
code=0
for point in $(awk -v root="$1/" 'index($5, root) == 1 { print $5 }' /proc/self/mountinfo | tac); do
  umount "$point" 2>/dev/null || { echo "$point"; umount --lazy "$point"; code=1; }
done
rm -rf --one-file-system "$1"
exit $code
`;

/** Returns why nothing can be mounted here, or `null` if it seems possible. A container can still refuse. */
export function whyNoMounting(): string | null {
  if (process.platform !== "linux") return "loop devices and FUSE are Linux's";
  if (process.getuid?.() !== 0) return "only root can mount";
  const lacking = ["/dev/fuse", "/dev/loop-control"].filter((device) => !existsSync(device));
  return lacking.length > 0 ? `no ${lacking.join(" and no ")}` : null;
}

/** For small content: the folder is in main memory if there is enough. */
export function mountFolder(): MountFolder {
  const path = mkdtempSync(join(memoryDisk(), "memcell-mount-"));
  const callOff = atProcessEnd(unmountAll, path);
  return {
    path,
    [Symbol.dispose]: () => {
      const { status, stdout, stderr } = spawnSync("sh", ["-c", unmountAll, "sh", path], { encoding: "utf8" });
      callOff();
      if (status !== 0) throw new Error(`Cannot unmount at once, files are still open: ${stdout}${stderr}`);
    },
  };
}
