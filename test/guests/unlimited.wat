;; A plugin whose memory has no maximum.
(module
  (memory (export "memory") 1)
  (func (export "guest") (result i32) (i32.const 0))
)
