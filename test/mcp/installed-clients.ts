import type { PreparedClients } from "./prepare-clients.ts";

/** Returns the clients. Fails the tests of a file with the reason if the clients are not installed. */
export function installedClients(prepared: PreparedClients): PreparedClients {
  if (prepared.failure === null) return prepared;
  throw new Error(`The MCP clients cannot be installed: ${prepared.failure}`);
}
