;; A plugin without the export that its manifest names.
(module
  (memory (export "memory") 1 4)
  (func (export "other") (result i32) (i32.const 0))
)
