/** Disk images as block devices. */
import { runCommand } from "./run-command.ts";

/**
 * Attaches the image to a free loop device and passes the device to `mount`. The kernel detaches the device when it is
 * unmounted or mounting failed, so unmounting is the only cleanup.
 */
export async function mountByLoop(
  image: string,
  mount: (device: string) => Promise<unknown>,
  options: { readonly directIo?: boolean } = {},
): Promise<void> {
  const directIo = `--direct-io=${options.directIo ? "on" : "off"}`;
  const device = (await runCommand("losetup", [directIo, "--find", "--show", image])).trim();
  try {
    await mount(device);
  } finally {
    await runCommand("losetup", ["--detach", device]);
  }
}
