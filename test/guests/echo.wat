;; A plugin whose answer is its input, byte for byte. It shows how much a host passes on. The second export does the
;; same and then returns a failure code.
(module
  (import "extism:host/env" "input_length" (func $input_length (result i64)))
  (import "extism:host/env" "input_load_u8" (func $input_load_u8 (param i64) (result i32)))
  (import "extism:host/env" "alloc" (func $alloc (param i64) (result i64)))
  (import "extism:host/env" "store_u8" (func $store_u8 (param i64 i32)))
  (import "extism:host/env" "output_set" (func $output_set (param i64 i64)))
  (memory (export "memory") 1 4)
  (func $echo (export "echo") (result i32)
    (local $block i64) (local $at i64)
    (local.set $block (call $alloc (call $input_length)))
    (loop $copy
      (call $store_u8 (i64.add (local.get $block) (local.get $at)) (call $input_load_u8 (local.get $at)))
      (local.set $at (i64.add (local.get $at) (i64.const 1)))
      (br_if $copy (i64.lt_u (local.get $at) (call $input_length))))
    (call $output_set (local.get $block) (call $input_length))
    (i32.const 0))
  (func (export "echo_and_fail") (result i32)
    (drop (call $echo))
    (i32.const 1))
)
