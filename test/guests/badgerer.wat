;; A plugin that calls a capability a million times and then answers with success.
(module
  (import "extism:host/env" "alloc" (func $alloc (param i64) (result i64)))
  (import "extism:host/env" "store_u8" (func $store_u8 (param i64 i32)))
  (import "extism:host/env" "output_set" (func $output_set (param i64 i64)))
  (import "extism:host/user" "clock_now" (func $clock_now (param i64) (result i64)))
  (memory (export "memory") 1 4)
  (data (i32.const 0) "{\"ok\":true,\"message\":\"\",\"data\":0}")
  (data (i32.const 64) "{}")

  (func (export "badger") (result i32)
    (local $request i64) (local $left i32)
    (local.set $request (call $block (i32.const 64) (i32.const 2)))
    (local.set $left (i32.const 1000000))
    (loop $again
      (drop (call $clock_now (local.get $request)))
      (local.set $left (i32.sub (local.get $left) (i32.const 1)))
      (br_if $again (local.get $left)))
    (call $output_set (call $block (i32.const 0) (i32.const 33)) (i64.const 33))
    (i32.const 0))

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
