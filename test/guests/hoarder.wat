;; A plugin that fills the host's memory instead of its own: Extism blocks of 16 MiB, one after the other.
(module
  (import "extism:host/env" "alloc" (func $alloc (param i64) (result i64)))
  (memory (export "memory") 1 4)
  (func (export "hoard") (result i32)
    (loop $again
      (drop (call $alloc (i64.const 16777216)))
      (br $again))
    (i32.const 0))
  ;; The same, after an error that it catches itself: a negative number of bytes.
  (func (export "hoard_behind_catch") (result i32)
    (try
      (do (drop (call $alloc (i64.const -4611686018427387904))))
      (catch_all))
    (try
      (do (drop (call $alloc (i64.const 16777216))))
      (catch_all (return (i32.const 0))))
    (i32.const 0))
)
