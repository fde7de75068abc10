import type { PreparedClients } from "./prepare-clients.ts";

/** Fails the tests of a file, with the reason, where the clients could not be installed. */
export function installedClients(prepared: PreparedClients): PreparedClients {
  if (prepared.failure === null) return prepared;
  throw new Error(`The MCP clients cannot be installed: ${prepared.failure}`);
}
