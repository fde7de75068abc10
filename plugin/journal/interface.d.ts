/**
 * What this family exports and imports, in the form that the stock `extism-js` compiler reads. It also gives
 * `Host.getFunctions()` its type.
 */
declare module "main" {
  export function memory_write(): I32;
  export function memory_update(): I32;
  export function memory_read(): I32;
  export function memory_search(): I32;
}

declare module "extism:host" {
  interface user {
    store_read(request: PTR): PTR;
    store_list(request: PTR): PTR;
    store_write(request: PTR): PTR;
    clock_now(request: PTR): PTR;
  }
}
