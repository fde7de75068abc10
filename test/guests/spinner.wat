;; A plugin that stages a file and then never returns. Unlike a JavaScript guest it counts no fuel, so only terminating
;; the thread stops it.
(module
  (import "extism:host/env" "alloc" (func $alloc (param i64) (result i64)))
  (import "extism:host/env" "store_u8" (func $store_u8 (param i64 i32)))
  (import "extism:host/user" "store_write" (func $store_write (param i64) (result i64)))
  (memory (export "memory") 1 4)
  ;; 54 bytes
  (data (i32.const 0) "{\"scope\":\"memory\",\"path\":\"spun.md\",\"content\":\"staged\"}")
  (func (export "spin") (result i32)
    (local $block i64) (local $at i32)
    (local.set $block (call $alloc (i64.const 54)))
    (loop $copy
      (call $store_u8 (i64.add (local.get $block) (i64.extend_i32_u (local.get $at))) (i32.load8_u (local.get $at)))
      (local.set $at (i32.add (local.get $at) (i32.const 1)))
      (br_if $copy (i32.lt_u (local.get $at) (i32.const 54))))
    (drop (call $store_write (local.get $block)))
    (loop $for_ever
      (br $for_ever))
    (i32.const 0))
)
