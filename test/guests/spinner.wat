;; A plugin that never answers. A hand-written one has no fuel: only the host's deadline ends it.
(module
  (memory (export "memory") 1 4)
  (func (export "spin") (result i32)
    (loop $again (br $again))
    (unreachable))
)
