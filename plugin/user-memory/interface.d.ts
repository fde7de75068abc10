/**
 * This family's exports and imports, in the form that the stock `extism-js` compiler reads. They also give
 * `Host.getFunctions()` its type.
 */
declare module "main" {
  export function update_user_memory(): I32;
  export function read_user_memory(): I32;
  export function search_user_memory(): I32;
  export function prompt_index(): I32;
  export function list_entries(): I32;
  export function inspect_memory(): I32;
  export function restore_entry(): I32;
  export function add_entry(): I32;
}

declare module "extism:host" {
  interface user {
    store_read(request: PTR): PTR;
    store_list(request: PTR): PTR;
    store_write(request: PTR): PTR;
    store_trash(request: PTR): PTR;
    clock_now(request: PTR): PTR;
  }
}
