;; A plugin that imports a capability that its manifest does not request.
(module
  (import "extism:host/user" "store_write" (func (param i64) (result i64)))
  (memory (export "memory") 1 4)
  (func (export "guest") (result i32) (i32.const 0))
)
