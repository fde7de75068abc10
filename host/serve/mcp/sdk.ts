/** The used part of the official MCP server SDK. No other file imports the SDK. */
export {
  InMemoryServerEventBus,
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
  Server,
  WebStandardStreamableHTTPServerTransport,
  createMcpHandler,
  isJSONRPCErrorResponse,
  isJSONRPCNotification,
  isJSONRPCRequest,
  isJSONRPCResultResponse,
  isLegacyRequest,
  parseJSONRPCMessage,
  serializeMessage,
} from "@modelcontextprotocol/server";
export type {
  CallToolResult,
  CompleteRequest,
  CompleteResult,
  GetPromptResult,
  Implementation,
  JSONRPCMessage,
  ListResourcesResult,
  McpHttpHandler,
  ReadResourceResult,
  Resource,
  ServerCapabilities,
  ServerContext,
  ServerEvent,
  ServerEventBus,
  Tool,
  ToolAnnotations,
  Transport,
} from "@modelcontextprotocol/server";
export { CLIENT_INFO_META_KEY } from "@modelcontextprotocol/server";
export { serveStdio } from "@modelcontextprotocol/server/stdio";
