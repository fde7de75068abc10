;; A plugin that looks for traces of an earlier call, and leaves a mark itself. Its answer's data is the number of
;; places with the mark: its memory below and above the initial size, a global, and an Extism block.
(module
  (import "extism:host/env" "alloc" (func $alloc (param i64) (result i64)))
  (import "extism:host/env" "free" (func $free (param i64)))
  (import "extism:host/env" "load_u64" (func $load_u64 (param i64) (result i64)))
  (import "extism:host/env" "store_u8" (func $store_u8 (param i64 i32)))
  (import "extism:host/env" "store_u64" (func $store_u64 (param i64 i64)))
  (import "extism:host/env" "output_set" (func $output_set (param i64 i64)))
  (memory (export "memory") 1 4)
  ;; 39 bytes; the digit at 37 is replaced
  (data (i32.const 0) "{\"ok\":true,\"message\":\"looked\",\"data\":0}")
  (global $mark i64 (i64.const 0x21474e494b52414d))
  (global $left (mut i32) (i32.const 0))

  (func (export "scavenge") (result i32)
    (local $found i32) (local $at i32) (local $block i64)
    ;; the global
    (local.set $found (global.get $left))
    ;; all memory
    (loop $scan
      (if (i64.eq (i64.load (local.get $at)) (global.get $mark))
        (then (local.set $found (i32.add (local.get $found) (i32.const 1)))))
      (local.set $at (i32.add (local.get $at) (i32.const 8)))
      (br_if $scan (i32.lt_u (local.get $at) (i32.shl (memory.size) (i32.const 16)))))
    ;; a new block of the same size as the freed one
    (local.set $block (call $alloc (i64.const 4096)))
    (if (i64.eq (call $load_u64 (local.get $block)) (global.get $mark))
      (then (local.set $found (i32.add (local.get $found) (i32.const 1)))))
    (call $store_u64 (local.get $block) (global.get $mark))
    (call $free (local.get $block))
    ;; marks for the next call
    (global.set $left (i32.const 1))
    (i64.store (i32.const 4096) (global.get $mark))
    (if (i32.lt_s (memory.size) (i32.const 3))
      (then
        (drop (memory.grow (i32.const 1)))
        (i64.store (i32.sub (i32.shl (memory.size) (i32.const 16)) (i32.const 8)) (global.get $mark))))
    (call $answer (local.get $found))
    (i32.const 0))

  (func $answer (param $digit i32)
    (local $block i64) (local $at i32)
    (i32.store8 (i32.const 37) (i32.add (i32.const 48) (local.get $digit)))
    (local.set $block (call $alloc (i64.const 39)))
    (loop $copy
      (call $store_u8 (i64.add (local.get $block) (i64.extend_i32_u (local.get $at))) (i32.load8_u (local.get $at)))
      (local.set $at (i32.add (local.get $at) (i32.const 1)))
      (br_if $copy (i32.lt_u (local.get $at) (i32.const 39))))
    (call $output_set (local.get $block) (i64.const 39)))
)
