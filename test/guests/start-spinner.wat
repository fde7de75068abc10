;; A plugin that never answers, and begins with that before any call: in its start function.
(module
  (memory (export "memory") 1 4)
  (func $begin (loop $again (br $again)))
  (start $begin)
  (func (export "guest") (result i32) (i32.const 0))
)
