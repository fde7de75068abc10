/** The used part of the official MCP server SDK, and its types. No other file imports the SDK. */
export {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  InMemoryServerEventBus,
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
  Server,
  WebStandardStreamableHTTPServerTransport,
  createMcpHandler,
  inputRequired,
  isInputRequiredResult,
  isJSONRPCErrorResponse,
  isJSONRPCNotification,
  isJSONRPCRequest,
  isJSONRPCResponse,
  isLegacyRequest,
  parseJSONRPCMessage,
  serializeMessage,
} from "@modelcontextprotocol/server";
export type * from "@modelcontextprotocol/server";
export { serveStdio } from "@modelcontextprotocol/server/stdio";
