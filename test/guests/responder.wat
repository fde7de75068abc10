;; A harmless plugin: one export succeeds with a sentence, the other fails with a code of the table. Neither reads its
;; input or makes requests.
(module
  (import "extism:host/env" "alloc" (func $alloc (param i64) (result i64)))
  (import "extism:host/env" "store_u8" (func $store_u8 (param i64 i32)))
  (import "extism:host/env" "output_set" (func $output_set (param i64 i64)))
  (import "extism:host/env" "error_set" (func $error_set (param i64)))
  (memory (export "memory") 1 4)
  (data (i32.const 0) "{\"ok\":true,\"message\":\"This is a simple text response for testing.\",\"data\":{}}")
  (data (i32.const 128) "{\"ok\":false,\"error\":{\"code\":\"ENTRY_NOT_FOUND\",\"message\":\"This tool intentionally returns an error for testing\"}}")

  (func (export "succeed") (result i32)
    (call $output_set (call $block (i32.const 0) (i32.const 77)) (i64.const 77))
    (i32.const 0))
  (func (export "fail") (result i32)
    (call $error_set (call $block (i32.const 128) (i32.const 112)))
    (i32.const 1))

  (func $block (param $from i32) (param $bytes i32) (result i64)
    (local $block i64) (local $at i32)
    (local.set $block (call $alloc (i64.extend_i32_u (local.get $bytes))))
    (loop $copy
      (call $store_u8
        (i64.add (local.get $block) (i64.extend_i32_u (local.get $at)))
        (i32.load8_u (i32.add (local.get $from) (local.get $at))))
      (local.set $at (i32.add (local.get $at) (i32.const 1)))
      (br_if $copy (i32.lt_u (local.get $at) (local.get $bytes))))
    (local.get $block))
)
