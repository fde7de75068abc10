;; The engine was compiled against WASI. These stand-ins provide it inside the module, so that the plugin imports none.
;; There is no file to write to, no randomness, and the time is always 1970. A tool that needs the time must have the
;; right `clock` and call the capability `clock_now`.
(module
  (import "qjs" "memory" (memory 1))
  (func (export "clock_time_get") (param $clock i32) (param $precision i64) (param $to i32) (result i32)
    (i64.store (local.get $to) (i64.const 0))
    (i32.const 0))
  (func (export "random_get") (param i32 i32) (result i32) (i32.const 52)) ;; ENOSYS
  (func (export "fd_close") (param i32) (result i32) (i32.const 8)) ;; EBADF, here and below
  (func (export "fd_fdstat_get") (param i32 i32) (result i32) (i32.const 8))
  (func (export "fd_seek") (param i32 i64 i32 i32) (result i32) (i32.const 8))
  (func (export "fd_write") (param i32 i32 i32 i32) (result i32) (i32.const 8))
)
