;; A plugin that never answers: it loops in its start function, before any call.
(module
  (memory (export "memory") 1 4)
  (func $begin (loop $again (br $again)))
  (start $begin)
  (func (export "guest") (result i32) (i32.const 0))
)
