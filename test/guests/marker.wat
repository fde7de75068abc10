;; A plugin that leaves marks in all state of a WebAssembly instance, or looks for them. Its input is a text of letters,
;; each an action, the last one how to end. The test inserts more kinds of state between the two lines below.
(module
  (import "extism:host/env" "input_length" (func $input_length (result i64)))
  (import "extism:host/env" "input_load_u8" (func $input_load_u8 (param i64) (result i32)))
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
  (import "extism:host/user" "store_write" (func $store_write (param i64) (result i64)))
  (memory (export "memory") 1 4)
  (data (i32.const 0) "{\"ok\":true,\"message\":\"\",\"data\":\"0000000000000000\"}")
  (data (i32.const 64) "{\"ok\":false,\"error\":{\"code\":\"NAME_CONFLICT\",\"message\":\"m\"}}")
  (data (i32.const 128) "{\"ok\":false,\"error\":{\"code\":\"FUEL_EXHAUSTED\",\"message\":\"m\"}}")
  (data (i32.const 192) "{\"scope\":\"other\",\"path\":\"a.md\",\"content\":\"x\"}")
  (data (i32.const 256) "planted")
  (data (i32.const 300) "D")
  ;; not all globals are mutable; the first one is not
  (global $mark i64 (i64.const 0x4d4d4d4d4d4d4d4d))
  (global $word (mut i32) (i32.const 7))
  (global $always i32 (i32.const 9))
  (global $long (mut i64) (i64.const -1))
  (type $nothing (func (result i64)))
  (table $table 4 16 funcref)
  (elem (i32.const 0) func $clean $clean $clean $marked)
  (func $clean (result i64) (i64.const 0))
  (func $marked (result i64) (i64.const 1))
  ;; variant begins
  (func $mark_variant)
  (func $look_variant (result i64) (i64.const 0))
  ;; variant ends

  (func (export "mark") (result i32)
    (local $at i64) (local $letter i32)
    (loop $next
      (local.set $at (i64.add (local.get $at) (i64.const 1)))
      (local.set $letter (call $input_load_u8 (local.get $at)))
      (call $do (local.get $letter))
      (br_if $next (i64.lt_u (local.get $at) (i64.sub (call $input_length) (i64.const 2)))))
    (call $end (local.get $letter)))

  (func $is (param $letter i32) (param $other i32) (result i32) (i32.eq (local.get $letter) (local.get $other)))
  (func $do (param $letter i32)
    ;; m: all memory after the texts, and a byte of a text
    (if (call $is (local.get $letter) (i32.const 109))
      (then
        (memory.fill (i32.const 512) (i32.const 77)
          (i32.sub (i32.shl (memory.size) (i32.const 16)) (i32.const 512)))
        (i32.store8 (i32.const 300) (i32.const 77))))
    ;; G: a new page of memory
    (if (call $is (local.get $letter) (i32.const 71)) (then (drop (memory.grow (i32.const 1)))))
    ;; g: the globals
    (if (call $is (local.get $letter) (i32.const 103))
      (then
        (global.set $word (i32.const 77))
        (global.set $long (global.get $mark))))
    ;; t: other functions, and null, in the table
    (if (call $is (local.get $letter) (i32.const 116))
      (then
        (table.set $table (i32.const 0) (ref.func $marked))
        (table.set $table (i32.const 1) (ref.null func))))
    ;; T: a longer table
    (if (call $is (local.get $letter) (i32.const 84))
      (then (drop (table.grow $table (ref.func $marked) (i32.const 3)))))
    ;; b: blocks, freed and not freed
    (if (call $is (local.get $letter) (i32.const 98)) (then (call $mark_blocks)))
    ;; z: the block before the first one, which some hosts have
    (if (call $is (local.get $letter) (i32.const 122)) (then (call $store_u8 (i64.const 0) (i32.const 77))))
    ;; v: the variant's state
    (if (call $is (local.get $letter) (i32.const 118)) (then (call $mark_variant))))
  (func $mark_blocks
    (local $block i64)
    (local.set $block (call $alloc (i64.const 4096)))
    (call $store_u64 (local.get $block) (global.get $mark))
    (call $free (local.get $block))
    (local.set $block (call $alloc (i64.const 4096)))
    (call $store_u64 (local.get $block) (global.get $mark))
    (drop (call $alloc (i64.const 8))))

  (func $end (param $letter i32) (result i32)
    ;; L: looks for all marks, V: for the variant's, Z: at the block before the first one
    (if (call $is (local.get $letter) (i32.const 76)) (then (call $answer (call $look))))
    (if (call $is (local.get $letter) (i32.const 86)) (then (call $answer (call $look_variant))))
    (if (call $is (local.get $letter) (i32.const 90))
      (then (call $answer (i64.extend_i32_u (call $load_u8 (i64.const 0))))))
    ;; a: answers; r: answers and returns a code; c: answers and fails; q: answers with invalid data
    (if (call $is (local.get $letter) (i32.const 97)) (then (call $answer (global.get $mark))))
    (if (call $is (local.get $letter) (i32.const 114))
      (then (call $answer (global.get $mark)) (return (i32.const 77))))
    (if (call $is (local.get $letter) (i32.const 99))
      (then (call $answer (global.get $mark)) (call $error_set (call $block (i32.const 64) (i32.const 59)))))
    (if (call $is (local.get $letter) (i32.const 113))
      (then (call $output_set (call $block (i32.const 256) (i32.const 7)) (i64.const 7))))
    ;; e: fails; f: fails for lack of fuel
    (if (call $is (local.get $letter) (i32.const 101))
      (then (call $error_set (call $block (i32.const 64) (i32.const 59))) (return (i32.const 1))))
    (if (call $is (local.get $letter) (i32.const 102))
      (then (call $error_set (call $block (i32.const 128) (i32.const 60))) (return (i32.const 1))))
    ;; d: makes a denied request and answers
    (if (call $is (local.get $letter) (i32.const 100))
      (then
        (drop (call $store_write (call $block (i32.const 192) (i32.const 45))))
        (call $answer (global.get $mark))))
    ;; x: answers and crashes; s: recurses; n: makes blocks without end
    (if (call $is (local.get $letter) (i32.const 120)) (then (call $answer (global.get $mark)) (unreachable)))
    (if (call $is (local.get $letter) (i32.const 115)) (then (return (call $recurse))))
    (if (call $is (local.get $letter) (i32.const 110))
      (then (loop $again (drop (call $alloc (i64.const 16777216))) (br $again))))
    ;; any other letter: does nothing
    (i32.const 0))
  (func $recurse (result i32) (i32.add (call $recurse) (i32.const 1)))

  ;; one bit for each kind of mark, and above them the number of the first block
  (func $look (result i64)
    (local $found i64) (local $at i32) (local $block i64) (local $number i64)
    (local.set $block (call $alloc (i64.const 4096)))
    (local.set $found (i64.shl (i64.shr_u (local.get $block) (i64.const 48)) (i64.const 32)))
    (loop $scan
      (if (i64.ne (call $load_u64 (i64.add (local.get $block) (i64.extend_i32_u (local.get $at)))) (i64.const 0))
        (then (local.set $found (i64.or (local.get $found) (i64.const 1)))))
      (local.set $at (i32.add (local.get $at) (i32.const 8)))
      (br_if $scan (i32.lt_u (local.get $at) (i32.const 4096))))
    (local.set $number (i64.const 3))
    (loop $scan
      (if (i64.ne (call $length (i64.shl (local.get $number) (i64.const 48))) (i64.const 0))
        (then (local.set $found (i64.or (local.get $found) (i64.const 2)))))
      (local.set $number (i64.add (local.get $number) (i64.const 1)))
      (br_if $scan (i64.lt_u (local.get $number) (i64.const 64))))
    (local.set $at (i32.const 512))
    (loop $scan
      (if (i64.ne (i64.load (local.get $at)) (i64.const 0))
        (then (local.set $found (i64.or (local.get $found) (i64.const 4)))))
      (local.set $at (i32.add (local.get $at) (i32.const 8)))
      (br_if $scan (i32.lt_u (local.get $at) (i32.shl (memory.size) (i32.const 16)))))
    (local.set $found (i64.or (local.get $found) (call $bit (i32.ne (i32.load8_u (i32.const 300)) (i32.const 68)) (i64.const 8))))
    (local.set $found (i64.or (local.get $found) (call $bit (i32.ne (memory.size) (i32.const 1)) (i64.const 16))))
    (local.set $found (i64.or (local.get $found) (call $bit (i32.ne (global.get $word) (i32.const 7)) (i64.const 32))))
    (local.set $found (i64.or (local.get $found) (call $bit (i64.ne (global.get $long) (i64.const -1)) (i64.const 64))))
    (local.set $found (i64.or (local.get $found) (call $bit (i32.ne (table.size $table) (i32.const 4)) (i64.const 128))))
    (local.set $found (i64.or (local.get $found)
      (call $bit (ref.is_null (table.get $table (i32.const 1))) (i64.const 256))))
    (local.set $found (i64.or (local.get $found)
      (call $bit (i32.wrap_i64 (call_indirect $table (type $nothing) (i32.const 0))) (i64.const 512))))
    (i64.or (local.get $found)
      (call $bit (i64.ne (call $config_get (call $block (i32.const 256) (i32.const 7))) (i64.const 0)) (i64.const 1024))))
  (func $bit (param $isSet i32) (param $bit i64) (result i64)
    (select (local.get $bit) (i64.const 0) (local.get $isSet)))

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
