;; A plugin that logs without limit: a million short lines, and lines of four megabytes.
(module
  (import "extism:host/env" "alloc" (func $alloc (param i64) (result i64)))
  (import "extism:host/env" "store_u8" (func $store_u8 (param i64 i32)))
  (import "extism:host/env" "store_u64" (func $store_u64 (param i64 i64)))
  (import "extism:host/env" "output_set" (func $output_set (param i64 i64)))
  (import "extism:host/env" "log_info" (func $log_info (param i64)))
  (memory (export "memory") 1 4)
  (data (i32.const 0) "{\"ok\":true,\"message\":\"\",\"data\":0}")

  (func (export "flood_lines") (result i32)
    (call $flood (call $line (i64.const 8)) (i32.const 1000000))
    (call $answer))
  ;; more than are kept
  (func (export "flood_megabytes") (result i32)
    (call $flood (call $line (i64.const 4194304)) (i32.const 300))
    (call $answer))

  (func $line (param $bytes i64) (result i64)
    (local $block i64) (local $at i64)
    (local.set $block (call $alloc (local.get $bytes)))
    (loop $fill
      (call $store_u64 (i64.add (local.get $block) (local.get $at)) (i64.const 0x7878787878787878))
      (local.set $at (i64.add (local.get $at) (i64.const 8)))
      (br_if $fill (i64.lt_u (local.get $at) (local.get $bytes))))
    (local.get $block))
  (func $flood (param $line i64) (param $times i32)
    (loop $again
      (call $log_info (local.get $line))
      (local.set $times (i32.sub (local.get $times) (i32.const 1)))
      (br_if $again (local.get $times))))
  (func $answer (result i32)
    (local $block i64) (local $at i32)
    (local.set $block (call $alloc (i64.const 33)))
    (loop $copy
      (call $store_u8 (i64.add (local.get $block) (i64.extend_i32_u (local.get $at))) (i32.load8_u (local.get $at)))
      (local.set $at (i32.add (local.get $at) (i32.const 1)))
      (br_if $copy (i32.lt_u (local.get $at) (i32.const 33))))
    (call $output_set (local.get $block) (i64.const 33))
    (i32.const 0))
)
