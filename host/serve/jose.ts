/** The part of jose that memcell uses, and the only file that imports it. */
export {
  createLocalJWKSet,
  createRemoteJWKSet,
  customFetch,
  decodeProtectedHeader,
  EncryptJWT,
  errors,
  jwtDecrypt,
  jwtVerify,
} from "jose";
export type { FetchImplementation, JWTPayload, JWTVerifyGetKey, ProtectedHeaderParameters } from "jose";
