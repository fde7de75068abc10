;; A plugin that makes requests impossible in JavaScript: requests that are not text, handles that are not blocks, and
;; very many requests.
(module
  (import "extism:host/env" "input_length" (func $input_length (result i64)))
  (import "extism:host/env" "input_load_u8" (func $input_load_u8 (param i64) (result i32)))
  (import "extism:host/env" "alloc" (func $alloc (param i64) (result i64)))
  (import "extism:host/env" "free" (func $free (param i64)))
  (import "extism:host/env" "length" (func $length (param i64) (result i64)))
  (import "extism:host/env" "load_u8" (func $load_u8 (param i64) (result i32)))
  (import "extism:host/env" "store_u8" (func $store_u8 (param i64 i32)))
  (import "extism:host/env" "output_set" (func $output_set (param i64 i64)))
  (import "extism:host/env" "error_set" (func $error_set (param i64)))
  (import "extism:host/user" "store_read" (func $store_read (param i64) (result i64)))
  (import "extism:host/user" "store_write" (func $store_write (param i64) (result i64)))
  (import "extism:host/user" "clock_now" (func $clock_now (param i64) (result i64)))
  (memory (export "memory") 1 4)
  (data (i32.const 0) "{\"ok\":true,\"message\":\"\",\"data\":")
  (data (i32.const 64) "}")
  (data (i32.const 128) "{}")
  (data (i32.const 192) "{\"scope\":\"memory\",\"path\":\"0000\",\"content\":\"\"}")

  ;; The input is a request to store_read in hexadecimal. Answers with the reply.
  (func (export "read_hex") (result i32)
    (call $answer_with (call $store_read (call $bytes)))
    (i32.const 0))
  (func (export "read_handle_0") (result i32)
    (call $answer_with (call $store_read (i64.const 0)))
    (i32.const 0))
  (func (export "read_no_block") (result i32)
    (call $answer_with (call $store_read (i64.const 0x7fffffff0000)))
    (i32.const 0))
  ;; The input is a number: how many times it requests the time.
  (func (export "ask_times") (result i32)
    (local $request i64) (local $left i32)
    (local.set $request (call $block (i32.const 128) (i32.const 2)))
    (local.set $left (call $number))
    (loop $again
      (call $free (call $clock_now (local.get $request)))
      (local.set $left (i32.sub (local.get $left) (i32.const 1)))
      (br_if $again (local.get $left)))
    (call $answer_with (call $block (i32.const 128) (i32.const 2)))
    (i32.const 0))
  ;; The input is a number: how many files it writes. Fails with the last reply, so that nothing is kept.
  (func (export "write_times") (result i32)
    (local $request i64) (local $reply i64) (local $left i32) (local $at i32)
    (local.set $request (call $block (i32.const 192) (i32.const 45)))
    (local.set $left (call $number))
    (loop $again
      (if (i64.ne (local.get $reply) (i64.const 0)) (then (call $free (local.get $reply))))
      (call $name (i64.add (local.get $request) (i64.const 26)) (local.get $at))
      (local.set $reply (call $store_write (local.get $request)))
      (local.set $at (i32.add (local.get $at) (i32.const 1)))
      (br_if $again (i32.lt_u (local.get $at) (local.get $left))))
    (call $error_set (local.get $reply))
    (i32.const 1))

  ;; four decimal digits
  (func $name (param $to i64) (param $number i32)
    (call $digit_at (local.get $to) (i32.div_u (local.get $number) (i32.const 1000)))
    (call $digit_at (i64.add (local.get $to) (i64.const 1)) (i32.div_u (local.get $number) (i32.const 100)))
    (call $digit_at (i64.add (local.get $to) (i64.const 2)) (i32.div_u (local.get $number) (i32.const 10)))
    (call $digit_at (i64.add (local.get $to) (i64.const 3)) (local.get $number)))
  (func $digit_at (param $to i64) (param $number i32)
    (call $store_u8 (local.get $to) (i32.add (i32.const 48) (i32.rem_u (local.get $number) (i32.const 10)))))

  (func $number (result i32)
    (local $at i64) (local $number i32)
    (loop $next
      (local.set $number
        (i32.add
          (i32.mul (local.get $number) (i32.const 10))
          (i32.sub (call $input_load_u8 (local.get $at)) (i32.const 48))))
      (local.set $at (i64.add (local.get $at) (i64.const 1)))
      (br_if $next (i64.lt_u (local.get $at) (call $input_length))))
    (local.get $number))

  (func $answer_with (param $reply i64)
    (local $answer i64) (local $at i64) (local $bytes i64)
    (local.set $bytes (i64.add (call $length (local.get $reply)) (i64.const 32)))
    (local.set $answer (call $alloc (local.get $bytes)))
    (call $copy (local.get $answer) (i32.const 0) (i32.const 31))
    (loop $next
      (call $store_u8
        (i64.add (i64.add (local.get $answer) (i64.const 31)) (local.get $at))
        (call $load_u8 (i64.add (local.get $reply) (local.get $at))))
      (local.set $at (i64.add (local.get $at) (i64.const 1)))
      (br_if $next (i64.lt_u (local.get $at) (call $length (local.get $reply)))))
    (call $copy
      (i64.add (local.get $answer) (i64.sub (local.get $bytes) (i64.const 1))) (i32.const 64) (i32.const 1))
    (call $output_set (local.get $answer) (local.get $bytes)))
  (func $block (param $from i32) (param $bytes i32) (result i64)
    (local $block i64)
    (local.set $block (call $alloc (i64.extend_i32_u (local.get $bytes))))
    (call $copy (local.get $block) (local.get $from) (local.get $bytes))
    (local.get $block))
  (func $copy (param $to i64) (param $from i32) (param $bytes i32)
    (loop $next
      (call $store_u8 (local.get $to) (i32.load8_u (local.get $from)))
      (local.set $to (i64.add (local.get $to) (i64.const 1)))
      (local.set $from (i32.add (local.get $from) (i32.const 1)))
      (local.set $bytes (i32.sub (local.get $bytes) (i32.const 1)))
      (br_if $next (local.get $bytes))))

  ;; the input without its quotation marks, two digits per byte
  (func $bytes (result i64)
    (local $block i64) (local $at i64) (local $from i64) (local $length i64)
    (local.set $length (i64.div_u (i64.sub (call $input_length) (i64.const 2)) (i64.const 2)))
    (local.set $block (call $alloc (local.get $length)))
    (loop $copy
      (local.set $from (i64.add (i64.mul (local.get $at) (i64.const 2)) (i64.const 1)))
      (call $store_u8
        (i64.add (local.get $block) (local.get $at))
        (i32.or
          (i32.shl (call $digit (local.get $from)) (i32.const 4))
          (call $digit (i64.add (local.get $from) (i64.const 1)))))
      (local.set $at (i64.add (local.get $at) (i64.const 1)))
      (br_if $copy (i64.lt_u (local.get $at) (local.get $length))))
    (local.get $block))
  (func $digit (param $at i64) (result i32)
    (local $digit i32)
    (local.set $digit (call $input_load_u8 (local.get $at)))
    (i32.sub (local.get $digit)
      (select (i32.const 48) (i32.const 87) (i32.lt_u (local.get $digit) (i32.const 58)))))
)
