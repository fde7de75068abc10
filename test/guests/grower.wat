;; A plugin that takes all the memory it can get, writes on every page, and then crashes or answers successfully.
(module
  (import "extism:host/env" "alloc" (func $alloc (param i64) (result i64)))
  (import "extism:host/env" "store_u8" (func $store_u8 (param i64 i32)))
  (import "extism:host/env" "output_set" (func $output_set (param i64 i64)))
  (memory (export "memory") 1 4)
  (data (i32.const 0) "{\"ok\":true,\"message\":\"\",\"data\":0}")

  (func (export "grow_and_trap") (result i32)
    (call $grow)
    (unreachable))
  ;; the digit at 31 is replaced by the number of pages
  (func (export "grow_and_answer") (result i32)
    (local $block i64) (local $at i32)
    (call $grow)
    (i32.store8 (i32.const 31) (i32.add (i32.const 48) (memory.size)))
    (local.set $block (call $alloc (i64.const 33)))
    (loop $copy
      (call $store_u8 (i64.add (local.get $block) (i64.extend_i32_u (local.get $at))) (i32.load8_u (local.get $at)))
      (local.set $at (i32.add (local.get $at) (i32.const 1)))
      (br_if $copy (i32.lt_u (local.get $at) (i32.const 33))))
    (call $output_set (local.get $block) (i64.const 33))
    (i32.const 0))

  (func $grow
    (loop $again
      (i32.store8 (i32.sub (i32.shl (memory.size) (i32.const 16)) (i32.const 1)) (i32.const 1))
      (br_if $again (i32.ne (memory.grow (i32.const 1)) (i32.const -1)))))
)
