;; A plugin that reads beyond the end of its data. Its input is a text: a letter for what it reads from (`i` the input,
;; `b` a stored file's reply, `o` its own block), a letter for how (`1` by bytes, `8` by eight), and twice 16
;; hexadecimal digits: the start and the number of reads. It answers with all bytes in hexadecimal.
(module
  (import "extism:host/env" "input_load_u8" (func $input_load_u8 (param i64) (result i32)))
  (import "extism:host/env" "input_load_u64" (func $input_load_u64 (param i64) (result i64)))
  (import "extism:host/env" "alloc" (func $alloc (param i64) (result i64)))
  (import "extism:host/env" "load_u8" (func $load_u8 (param i64) (result i32)))
  (import "extism:host/env" "load_u64" (func $load_u64 (param i64) (result i64)))
  (import "extism:host/env" "store_u8" (func $store_u8 (param i64 i32)))
  (import "extism:host/env" "output_set" (func $output_set (param i64 i64)))
  (import "extism:host/user" "store_read" (func $store_read (param i64) (result i64)))
  (memory (export "memory") 1 4)
  (data (i32.const 0) "{\"ok\":true,\"message\":\"\",\"data\":\"")
  (data (i32.const 64) "\"}")
  (data (i32.const 128) "{\"scope\":\"memory\",\"path\":\"s.md\"}")
  (global $answer (mut i64) (i64.const 0))

  (func (export "prowl") (result i32)
    (local $base i64) (local $isWord i32) (local $isInput i32) (local $at i64) (local $count i64) (local $bytes i64)
    (local.set $isInput (i32.eq (call $input_load_u8 (i64.const 1)) (i32.const 105)))
    (local.set $isWord (i32.eq (call $input_load_u8 (i64.const 2)) (i32.const 56)))
    (local.set $at (call $hex (i64.const 3)))
    (local.set $count (call $hex (i64.const 19)))
    (if (i32.eq (call $input_load_u8 (i64.const 1)) (i32.const 98))
      (then (local.set $base (call $store_read (call $request)))))
    (if (i32.eq (call $input_load_u8 (i64.const 1)) (i32.const 111))
      (then (local.set $base (call $alloc (i64.const 24)))))
    (local.set $bytes
      (i64.add (i64.const 34)
        (i64.mul (local.get $count) (select (i64.const 16) (i64.const 2) (local.get $isWord)))))
    (global.set $answer (call $alloc (local.get $bytes)))
    (local.set $base (i64.add (local.get $base) (local.get $at)))
    (call $copy (i32.const 0) (i32.const 32))
    (loop $next
      (call $show
        (call $read (local.get $base) (local.get $isWord) (local.get $isInput))
        (select (i32.const 8) (i32.const 1) (local.get $isWord)))
      (local.set $base (i64.add (local.get $base) (select (i64.const 8) (i64.const 1) (local.get $isWord))))
      (local.set $count (i64.sub (local.get $count) (i64.const 1)))
      (br_if $next (i32.wrap_i64 (local.get $count))))
    (call $copy (i32.const 64) (i32.const 2))
    (call $output_set (i64.sub (global.get $answer) (local.get $bytes)) (local.get $bytes))
    (i32.const 0))

  (func $read (param $at i64) (param $isWord i32) (param $isInput i32) (result i64)
    (if (local.get $isInput)
      (then
        (if (local.get $isWord) (then (return (call $input_load_u64 (local.get $at)))))
        (return (i64.extend_i32_u (call $input_load_u8 (local.get $at))))))
    (if (local.get $isWord) (then (return (call $load_u64 (local.get $at)))))
    (i64.extend_i32_u (call $load_u8 (local.get $at))))

  ;; the lowest byte first, as in the block
  (func $show (param $word i64) (param $bytes i32)
    (loop $next
      (call $digit (i64.and (i64.shr_u (local.get $word) (i64.const 4)) (i64.const 15)))
      (call $digit (i64.and (local.get $word) (i64.const 15)))
      (local.set $word (i64.shr_u (local.get $word) (i64.const 8)))
      (local.set $bytes (i32.sub (local.get $bytes) (i32.const 1)))
      (br_if $next (local.get $bytes))))
  (func $digit (param $value i64)
    (call $put
      (i32.add (i32.wrap_i64 (local.get $value))
        (select (i32.const 48) (i32.const 87) (i64.lt_u (local.get $value) (i64.const 10))))))
  (func $copy (param $from i32) (param $bytes i32)
    (loop $next
      (call $put (i32.load8_u (local.get $from)))
      (local.set $from (i32.add (local.get $from) (i32.const 1)))
      (local.set $bytes (i32.sub (local.get $bytes) (i32.const 1)))
      (br_if $next (local.get $bytes))))
  (func $put (param $byte i32)
    (call $store_u8 (global.get $answer) (local.get $byte))
    (global.set $answer (i64.add (global.get $answer) (i64.const 1))))

  (func $request (result i64)
    (local $block i64)
    (local.set $block (call $alloc (i64.const 32)))
    (global.set $answer (local.get $block))
    (call $copy (i32.const 128) (i32.const 32))
    (local.get $block))
  (func $hex (param $at i64) (result i64)
    (local $end i64) (local $value i64) (local $digit i32)
    (local.set $end (i64.add (local.get $at) (i64.const 16)))
    (loop $next
      (local.set $digit (call $input_load_u8 (local.get $at)))
      (local.set $digit
        (i32.sub (local.get $digit)
          (select (i32.const 48) (i32.const 87) (i32.lt_u (local.get $digit) (i32.const 58)))))
      (local.set $value
        (i64.or (i64.shl (local.get $value) (i64.const 4)) (i64.extend_i32_u (local.get $digit))))
      (local.set $at (i64.add (local.get $at) (i64.const 1)))
      (br_if $next (i64.lt_u (local.get $at) (local.get $end))))
    (local.get $value))
)
