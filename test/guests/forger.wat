;; A plugin that invents handles. Its input is a text: a letter for the function, a letter for the base of the handle
;; (`a` none, `b` its own block, `f` a freed block, `r` a reply), and 16 hexadecimal digits. It answers with the
;; function's result in hexadecimal.
(module
  (import "extism:host/env" "input_load_u8" (func $input_load_u8 (param i64) (result i32)))
  (import "extism:host/env" "input_load_u64" (func $input_load_u64 (param i64) (result i64)))
  (import "extism:host/env" "alloc" (func $alloc (param i64) (result i64)))
  (import "extism:host/env" "free" (func $free (param i64)))
  (import "extism:host/env" "length" (func $length (param i64) (result i64)))
  (import "extism:host/env" "load_u8" (func $load_u8 (param i64) (result i32)))
  (import "extism:host/env" "load_u64" (func $load_u64 (param i64) (result i64)))
  (import "extism:host/env" "store_u8" (func $store_u8 (param i64 i32)))
  (import "extism:host/env" "store_u64" (func $store_u64 (param i64 i64)))
  (import "extism:host/env" "output_set" (func $output_set (param i64 i64)))
  (import "extism:host/env" "error_set" (func $error_set (param i64)))
  (import "extism:host/env" "config_get" (func $config_get (param i64) (result i64)))
  (import "extism:host/env" "log_info" (func $log_info (param i64)))
  (import "extism:host/env" "log_error" (func $log_error (param i64)))
  (import "extism:host/user" "store_read" (func $store_read (param i64) (result i64)))
  (import "extism:host/user" "store_list" (func $store_list (param i64) (result i64)))
  (import "extism:host/user" "store_write" (func $store_write (param i64) (result i64)))
  (import "extism:host/user" "store_trash" (func $store_trash (param i64) (result i64)))
  (import "extism:host/user" "clock_now" (func $clock_now (param i64) (result i64)))
  (memory (export "memory") 1 4)
  (data (i32.const 0) "{\"ok\":true,\"message\":\"\",\"data\":\"0000000000000000\"}")
  (data (i32.const 64) "{}")
  (type $on_handle (func (param i64) (result i64)))
  ;; by the letters a to s
  (table funcref (elem
    $alloc $load_u8_wide $load_u64 $store_one $store_word $output $error $freeing $length $input_wide $input_load_u64
    $config_get $info $oops $store_read $store_list $store_write $store_trash $clock_now))

  (func (export "forge") (result i32)
    (local $result i64)
    ;; the input starts with the quotation mark of a JSON text
    (local.set $result
      (call_indirect (type $on_handle)
        (i64.add (call $base (call $input_load_u8 (i64.const 2))) (call $hex))
        (i32.sub (call $input_load_u8 (i64.const 1)) (i32.const 97))))
    ;; keeps the output or error that was set
    (if (i64.ne (local.get $result) (i64.const -2)) (then (call $answer (local.get $result))))
    (i32.const 0))

  (func $base (param $letter i32) (result i64)
    (local $block i64)
    (if (i32.eq (local.get $letter) (i32.const 98)) (then (return (call $alloc (i64.const 16)))))
    (if (i32.eq (local.get $letter) (i32.const 102))
      (then
        (local.set $block (call $alloc (i64.const 16)))
        (call $free (local.get $block))
        (return (local.get $block))))
    (if (i32.eq (local.get $letter) (i32.const 114))
      (then (return (call $clock_now (call $block (i32.const 64) (i32.const 2))))))
    (i64.const 0))
  (func $hex (result i64)
    (local $at i64) (local $value i64) (local $digit i32)
    (loop $next
      (local.set $digit (call $input_load_u8 (i64.add (i64.const 3) (local.get $at))))
      (local.set $digit
        (i32.sub (local.get $digit)
          (select (i32.const 48) (i32.const 87) (i32.lt_u (local.get $digit) (i32.const 58)))))
      (local.set $value
        (i64.or (i64.shl (local.get $value) (i64.const 4)) (i64.extend_i32_u (local.get $digit))))
      (local.set $at (i64.add (local.get $at) (i64.const 1)))
      (br_if $next (i64.lt_u (local.get $at) (i64.const 16))))
    (local.get $value))

  (func $load_u8_wide (param $handle i64) (result i64) (i64.extend_i32_u (call $load_u8 (local.get $handle))))
  (func $input_wide (param $handle i64) (result i64) (i64.extend_i32_u (call $input_load_u8 (local.get $handle))))
  (func $store_one (param $handle i64) (result i64) (call $store_u8 (local.get $handle) (i32.const 1)) (i64.const 0))
  (func $store_word (param $handle i64) (result i64)
    (call $store_u64 (local.get $handle) (i64.const -1)) (i64.const 0))
  (func $output (param $handle i64) (result i64) (call $output_set (local.get $handle) (i64.const 8)) (i64.const -2))
  (func $error (param $handle i64) (result i64) (call $error_set (local.get $handle)) (i64.const -2))
  (func $freeing (param $handle i64) (result i64) (call $free (local.get $handle)) (i64.const 0))
  (func $info (param $handle i64) (result i64) (call $log_info (local.get $handle)) (i64.const 0))
  (func $oops (param $handle i64) (result i64) (call $log_error (local.get $handle)) (i64.const 0))

  (func $answer (param $result i64)
    (local $at i32) (local $digit i32)
    (local.set $at (i32.const 48))
    (loop $next
      (local.set $at (i32.sub (local.get $at) (i32.const 1)))
      (local.set $digit (i32.and (i32.wrap_i64 (local.get $result)) (i32.const 15)))
      (i32.store8 (local.get $at)
        (i32.add (local.get $digit)
          (select (i32.const 48) (i32.const 87) (i32.lt_u (local.get $digit) (i32.const 10)))))
      (local.set $result (i64.shr_u (local.get $result) (i64.const 4)))
      (br_if $next (i32.gt_u (local.get $at) (i32.const 32))))
    (call $output_set (call $block (i32.const 0) (i32.const 50)) (i64.const 50)))
  (func $block (param $from i32) (param $bytes i32) (result i64)
    (local $block i64) (local $at i32)
    (local.set $block (call $alloc (i64.extend_i32_u (local.get $bytes))))
    (loop $copy
      (call $store_u8
        (i64.add (local.get $block) (i64.extend_i32_u (local.get $at)))
        (i32.load8_u (i32.add (local.get $from) (local.get $at))))
      (local.set $at (i32.add (local.get $at) (i32.const 1)))
      (br_if $copy (i32.lt_u (local.get $at) (local.get $bytes))))
    (local.get $block))
)
