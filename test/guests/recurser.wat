;; A plugin that calls itself until the thread's stack overflows: directly, with large frames, and through the table.
(module
  (memory (export "memory") 1 4)
  (table 1 funcref)
  (elem (i32.const 0) func $indirect)
  (type $step (func (param i32) (result i32)))

  (func $deeper (export "recurse") (result i32)
    (i32.add (call $deeper) (i32.const 1)))
  (func (export "recurse_wide") (result i32)
    (i32.wrap_i64 (call $wide (i64.const 1) (i64.const 2) (i64.const 3) (i64.const 4))))
  (func $wide (param $a i64) (param $b i64) (param $c i64) (param $d i64) (result i64)
    (i64.add
      (i64.mul (local.get $a) (local.get $d))
      (call $wide (local.get $b) (local.get $c) (local.get $d) (i64.add (local.get $a) (i64.const 1)))))
  (func (export "recurse_indirect") (result i32)
    (call $indirect (i32.const 0)))
  (func $indirect (type $step)
    (i32.add (i32.const 1) (call_indirect (type $step) (local.get 0) (i32.const 0))))
)
