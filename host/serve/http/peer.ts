/** Who is at the other end of a connection, as far as the connection tells. Headers that say so are not believed. */
import type { Socket } from "node:net";

/** An address, for the audit log. `undefined` when the connection is gone. */
export function peerOf({ remoteAddress }: Pick<Socket, "remoteAddress">): string | undefined {
  return remoteAddress?.replace(/^::ffff:(?=\d+\.)/, "").slice(0, 64);
}

/** What is counted as one: a network of IPv6, for whoever has one address of it has all. */
export function peerKey(peer: string | undefined): string {
  if (!peer?.includes(":")) return peer ?? "";
  const [head = "", tail] = peer.split("%")[0]?.split("::") ?? [];
  const groups = head.split(":").filter((group) => group !== "");
  const tailGroups = tail?.split(":").filter((group) => group !== "") ?? [];
  const missing = Math.max(0, 8 - groups.length - tailGroups.length);
  return [...groups, ...Array<string>(missing).fill("0"), ...tailGroups].slice(0, 4).join(":");
}
