;; The kernel functions that copy text between a guest's memory and its blocks, eight bytes a call. A call from module to
;; module takes a tenth of the time of a call to JavaScript, which makes an object of each eight bytes.
;;
;; The memory has a copy of one block, from 0 on, and of the call's input, from 0x80000 on. What is not there, also what is
;; beyond a block's end, is the host's work (block-access.ts). From 0x100000 on it has four words, which the host can set
;; faster than globals:
;;
;;   0x100000   the block's number; 0 if there is none. Its bytes are then 0, too, so that no access to block 0 fits
;;   0x100004   the block's bytes, at most 0x80000
;;   0x100008   1 if the guest has written to it
;;   0x10000c   the input's bytes, at most 0x80000
(module
  (import "host" "load_u8" (func $load_u8 (param i64) (result i32)))
  (import "host" "load_u64" (func $load_u64 (param i64) (result i64)))
  (import "host" "store_u8" (func $store_u8 (param i64 i32)))
  (import "host" "store_u64" (func $store_u64 (param i64 i64)))
  (import "host" "input_load_u8" (func $input_load_u8 (param i64) (result i32)))
  (import "host" "input_load_u64" (func $input_load_u64 (param i64) (result i64)))

  (memory (export "memory") 17 17)

  ;; An address has the block's number in its upper sixteen bits, and below them the offset.
  (func (export "load_u8") (param $address i64) (result i32)
    (local $offset i64)
    (local.set $offset (i64.and (local.get $address) (i64.const 0xffffffffffff)))
    (if (i32.and
          (i64.eq (i64.shr_u (local.get $address) (i64.const 48)) (i64.load32_u (i32.const 0x100000)))
          (i64.lt_u (local.get $offset) (i64.load32_u (i32.const 0x100004))))
      (then (return (i32.load8_u (i32.wrap_i64 (local.get $offset))))))
    (call $load_u8 (local.get $address)))

  (func (export "load_u64") (param $address i64) (result i64)
    (local $offset i64)
    (local.set $offset (i64.and (local.get $address) (i64.const 0xffffffffffff)))
    (if (i32.and
          (i64.eq (i64.shr_u (local.get $address) (i64.const 48)) (i64.load32_u (i32.const 0x100000)))
          (i64.le_u (i64.add (local.get $offset) (i64.const 8)) (i64.load32_u (i32.const 0x100004))))
      (then (return (i64.load (i32.wrap_i64 (local.get $offset))))))
    (call $load_u64 (local.get $address)))

  (func (export "store_u8") (param $address i64) (param $byte i32)
    (local $offset i64)
    (local.set $offset (i64.and (local.get $address) (i64.const 0xffffffffffff)))
    (if (i32.and
          (i64.eq (i64.shr_u (local.get $address) (i64.const 48)) (i64.load32_u (i32.const 0x100000)))
          (i64.lt_u (local.get $offset) (i64.load32_u (i32.const 0x100004))))
      (then
        (i32.store (i32.const 0x100008) (i32.const 1))
        (i32.store8 (i32.wrap_i64 (local.get $offset)) (local.get $byte))
        (return)))
    (call $store_u8 (local.get $address) (local.get $byte)))

  (func (export "store_u64") (param $address i64) (param $word i64)
    (local $offset i64)
    (local.set $offset (i64.and (local.get $address) (i64.const 0xffffffffffff)))
    (if (i32.and
          (i64.eq (i64.shr_u (local.get $address) (i64.const 48)) (i64.load32_u (i32.const 0x100000)))
          (i64.le_u (i64.add (local.get $offset) (i64.const 8)) (i64.load32_u (i32.const 0x100004))))
      (then
        (i32.store (i32.const 0x100008) (i32.const 1))
        (i64.store (i32.wrap_i64 (local.get $offset)) (local.get $word))
        (return)))
    (call $store_u64 (local.get $address) (local.get $word)))

  (func (export "input_load_u8") (param $offset i64) (result i32)
    (if (i64.lt_u (local.get $offset) (i64.load32_u (i32.const 0x10000c)))
      (then (return (i32.load8_u offset=0x80000 (i32.wrap_i64 (local.get $offset))))))
    (call $input_load_u8 (local.get $offset)))

  (func (export "input_load_u64") (param $offset i64) (result i64)
    ;; The sum of a huge offset could be small again.
    (if (i32.and
          (i64.lt_u (local.get $offset) (i64.load32_u (i32.const 0x10000c)))
          (i64.le_u (i64.add (local.get $offset) (i64.const 8)) (i64.load32_u (i32.const 0x10000c))))
      (then (return (i64.load offset=0x80000 (i32.wrap_i64 (local.get $offset))))))
    (call $input_load_u64 (local.get $offset))))
