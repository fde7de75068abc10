/** The part of jose that memcell uses, and the only file that imports it. */
export { createLocalJWKSet, createRemoteJWKSet, customFetch, decodeProtectedHeader, errors, jwtVerify } from "jose";
export type { FetchImplementation, JWTPayload, JWTVerifyGetKey, ProtectedHeaderParameters } from "jose";
