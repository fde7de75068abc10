;; A plugin that reads a file, requests one of a scope that it was not granted, and then never returns. It counts no
;; fuel, so only terminating the thread stops it.
(module
  (import "extism:host/env" "alloc" (func $alloc (param i64) (result i64)))
  (import "extism:host/env" "store_u8" (func $store_u8 (param i64 i32)))
  (import "extism:host/user" "store_read" (func $store_read (param i64) (result i64)))
  (memory (export "memory") 1 4)
  ;; 32 bytes each
  (data (i32.const 0) "{\"scope\":\"memory\",\"path\":\"a.md\"}")
  (data (i32.const 32) "{\"scope\":\"others\",\"path\":\"b.md\"}")
  (func (export "lurk") (result i32)
    (call $ask (i32.const 0))
    (call $ask (i32.const 32))
    (loop $for_ever
      (br $for_ever))
    (i32.const 0))
  (func $ask (param $from i32)
    (local $block i64) (local $at i32)
    (local.set $block (call $alloc (i64.const 32)))
    (loop $copy
      (call $store_u8 (i64.add (local.get $block) (i64.extend_i32_u (local.get $at)))
        (i32.load8_u (i32.add (local.get $from) (local.get $at))))
      (local.set $at (i32.add (local.get $at) (i32.const 1)))
      (br_if $copy (i32.lt_u (local.get $at) (i32.const 32))))
    (drop (call $store_read (local.get $block))))
)
