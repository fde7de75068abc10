/**
 * A plugin in AssemblyScript, which the project's TypeScript compiler and linter do not read. It keeps a number in a file.
 * shared/README.md describes its requests and answers.
 *
 * Every call has its own instance, so nothing remains of it and a runtime that never frees memory is enough.
 */
@external("extism:host/env", "input_length") declare function input_length(): i64;
@external("extism:host/env", "input_load_u8") declare function input_load_u8(at: i64): i32;
@external("extism:host/env", "alloc") declare function alloc(bytes: i64): i64;
@external("extism:host/env", "length") declare function length(handle: i64): i64;
@external("extism:host/env", "load_u8") declare function load_u8(at: i64): i32;
@external("extism:host/env", "store_u8") declare function store_u8(at: i64, byte: i32): void;
@external("extism:host/env", "output_set") declare function output_set(handle: i64, bytes: i64): void;
@external("extism:host/env", "error_set") declare function error_set(handle: i64): void;
@external("extism:host/user", "store_read") declare function store_read(request: i64): i64;
@external("extism:host/user", "store_write") declare function store_write(request: i64): i64;

const totalMax: i32 = 999_999_999;

export function tally_add(): i32 {
  const by = numberIn(inputText());
  if (by < 0) return fail("INPUT_INVALID", "Cannot call tally_add: allowed is {\\\"by\\\": N}, N from 0 to 999");
  const reply = textOf(store_read(blockOf(request(""))));
  if (!isOk(reply)) return hand(reply);
  const total = totalIn(reply);
  if (total < 0) return fail("ENTRY_UNREADABLE", "Cannot read the tally: its file holds no number");
  if (total + by > totalMax) return fail("TALLY_FULL", "Cannot add to the tally: it would be over 999999999");
  const sum = (total + by).toString();
  const written = textOf(store_write(blockOf(request(',"content":"' + sum + '"'))));
  return isOk(written) ? answer(sum) : hand(written);
}

export function tally_total(): i32 {
  if (inputText().trim() != "{}") return fail("INPUT_INVALID", "Cannot call tally_total: allowed is {}");
  const reply = textOf(store_read(blockOf(request(""))));
  if (!isOk(reply)) return hand(reply);
  const total = totalIn(reply);
  if (total < 0) return fail("ENTRY_UNREADABLE", "Cannot read the tally: its file holds no number");
  return answer(total.toString());
}

/** Called when AssemblyScript's own code fails. A compiler option names it; otherwise the module would import `abort`. */
function trap(message: string | null, file: string | null, line: u32, column: u32): void {
  unreachable();
}

function request(more: string): string {
  return '{"scope":"tally","path":"total.txt"' + more + "}";
}

/** Passes on a capability's refusal, which already has the form of a failure. */
function hand(refusal: string): i32 {
  error_set(blockOf(refusal));
  return 1;
}

function fail(code: string, message: string): i32 {
  return hand('{"ok":false,"error":{"code":"' + code + '","message":"' + message + '"}}');
}

function answer(total: string): i32 {
  const handle = blockOf('{"ok":true,"message":"The tally is ' + total + '","data":{"total":' + total + "}}");
  output_set(handle, length(handle));
  return 0;
}

function isOk(reply: string): bool {
  return valueOf(reply, "ok").startsWith("true");
}

/** The reply's text after a key, or "". White space depends on the host; inside a string, quotes are escaped. */
function valueOf(reply: string, name: string): string {
  const key = '"' + name + '"';
  for (let at = reply.indexOf(key); at >= 0; at = reply.indexOf(key, at + 1)) {
    const rest = reply.substring(at + key.length).trimStart();
    if (rest.startsWith(":")) return rest.substring(1).trimStart();
  }
  return "";
}

/** The number in a reply's file; 0 without a file, -1 if the content is not a valid number. */
function totalIn(reply: string): i32 {
  const content = valueOf(reply, "content");
  if (content.startsWith("null")) return 0;
  const end = content.indexOf('"', 1);
  return content.startsWith('"') ? digits(content.substring(1, end), 9) : -1;
}

/** The N of {"by": N}, or -1. */
function numberIn(input: string): i32 {
  const inner = input.trim();
  if (!inner.startsWith("{") || !inner.endsWith("}")) return -1;
  const field = inner.substring(1, inner.length - 1).trim();
  if (!field.startsWith('"by"')) return -1;
  const colon = field.substring(4).trim();
  return colon.startsWith(":") ? digits(colon.substring(1).trim(), 3) : -1;
}

function digits(text: string, digitsMax: i32): i32 {
  if (text.length == 0 || text.length > digitsMax || (text.length > 1 && text.startsWith("0"))) return -1;
  let number = 0;
  for (let at = 0; at < text.length; at++) {
    const digit = text.charCodeAt(at) - 48;
    if (digit < 0 || digit > 9) return -1;
    number = number * 10 + digit;
  }
  return number;
}

function inputText(): string {
  const bytes = new Uint8Array(<i32>input_length());
  for (let at = 0; at < bytes.length; at++) bytes[at] = <u8>input_load_u8(at);
  return String.UTF8.decode(bytes.buffer);
}

function textOf(handle: i64): string {
  const bytes = new Uint8Array(<i32>length(handle));
  for (let at = 0; at < bytes.length; at++) bytes[at] = <u8>load_u8(handle + at);
  return String.UTF8.decode(bytes.buffer);
}

function blockOf(text: string): i64 {
  const bytes = Uint8Array.wrap(String.UTF8.encode(text));
  const handle = alloc(bytes.length);
  for (let at = 0; at < bytes.length; at++) store_u8(handle + at, bytes[at]);
  return handle;
}
