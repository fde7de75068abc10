/** The part of oauth4webapi that memcell uses, and the only file that imports it. */
export {
  allowInsecureRequests,
  authorizationCodeGrantRequest,
  AuthorizationResponseError,
  calculatePKCECodeChallenge,
  ClientSecretBasic,
  discoveryRequest,
  generateRandomCodeVerifier,
  generateRandomNonce,
  generateRandomState,
  None,
  processAuthorizationCodeResponse,
  processDiscoveryResponse,
  validateAuthResponse,
} from "oauth4webapi";
export type { AuthorizationServer, Client, ClientAuth } from "oauth4webapi";
