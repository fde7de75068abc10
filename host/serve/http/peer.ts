/** The address at the other end of a connection. Headers that claim another address are ignored. */
import type { Socket } from "node:net";

/** An address, for the audit log. `undefined` when the connection is gone. */
export function peerOf({ remoteAddress }: Pick<Socket, "remoteAddress">): string | undefined {
  return remoteAddress?.replace(/^::ffff:(?=\d+\.)/, "").slice(0, 64);
}

/** The key for counting: the /64 network of an IPv6 address, because its owner has all addresses in it. */
export function peerKey(peer: string | undefined): string {
  if (!peer?.includes(":")) return peer ?? "";
  const [head = "", tail] = peer.split("%")[0]?.split("::") ?? [];
  const groups = head.split(":").filter((group) => group !== "");
  const tailGroups = tail?.split(":").filter((group) => group !== "") ?? [];
  const missing = Math.max(0, 8 - groups.length - tailGroups.length);
  return [...groups, ...Array<string>(missing).fill("0"), ...tailGroups].slice(0, 4).join(":");
}
