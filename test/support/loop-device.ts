/** Disk images as block devices. */
import { runCommand } from "./run-command.ts";

/**
 * Attaches the image to a free loop device and hands that to `mount`. When the mount ends, or has failed, the kernel
 * detaches the device by itself, so that unmounting is all there is to clean up.
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
