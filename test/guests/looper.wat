;; A plugin that never answers. Hand-written guests have no fuel, so only terminating the thread stops it, whether its
;; own code, the host's or the engine's is running.
(module
  (import "extism:host/env" "alloc" (func $alloc (param i64) (result i64)))
  (import "extism:host/env" "log_info" (func $log_info (param i64)))
  (import "extism:host/env" "config_get" (func $config_get (param i64) (result i64)))
  (memory (export "memory") 1 4)

  (func (export "loop") (result i32)
    (loop $again (br $again))
    (i32.const 0))
  (func (export "loop_in_host") (result i32)
    (local $block i64)
    (local.set $block (call $alloc (i64.const 65536)))
    (loop $again
      (call $log_info (local.get $block))
      (drop (call $config_get (local.get $block)))
      (br $again))
    (i32.const 0))
  (func (export "loop_in_engine") (result i32)
    (drop (memory.grow (i32.const 3)))
    (loop $again
      (memory.fill (i32.const 0) (i32.const 77) (i32.const 262144))
      (br $again))
    (i32.const 0))
)
