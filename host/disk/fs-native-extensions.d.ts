/** The part of fs-native-extensions that is used; the package brings no types. */
declare module "fs-native-extensions" {
  export function tryLock(descriptor: number, options?: { shared?: boolean }): boolean;
  export function unlock(descriptor: number): void;
  export function swapSync(from: string, to: string): void;
}
