;; The text of a JSON string to UTF-8 and back, eight bytes at a time. The engine's own functions look at each character,
;; and make a JavaScript string of the whole JSON first.
;;
;; Both functions know the escapes of two characters. They give up at any other: the caller then uses the engine's.
(module
  (import "qjs" "memory" (memory 1))

  ;; Writes text as the inside of a JSON string. There must be room for twice the bytes. Returns the end of what was
  ;; written; 0 for a text with another control character than those that have an escape of two characters, and for one with
  ;; a lone surrogate, for which UTF-8 has no form.
  (func (export "quote") (param $from i32) (param $bytes i32) (param $to i32) (result i32)
    (local $end i32) (local $word i64) (local $byte i32) (local $letter i32)
    (local.set $end (i32.add (local.get $from) (local.get $bytes)))
    (loop $next
      (if (i32.eq (local.get $from) (local.get $end)) (then (return (local.get $to))))
      (if (i32.ge_u (i32.sub (local.get $end) (local.get $from)) (i32.const 8))
        (then
          (local.set $word (i64.load (local.get $from)))
          (if (i32.eqz (i32.or (call $has_special (local.get $word)) (call $has_surrogate_lead (local.get $word))))
            (then
              (i64.store (local.get $to) (local.get $word))
              (local.set $from (i32.add (local.get $from) (i32.const 8)))
              (local.set $to (i32.add (local.get $to) (i32.const 8)))
              (br $next)))))
      (local.set $byte (i32.load8_u (local.get $from)))
      (local.set $from (i32.add (local.get $from) (i32.const 1)))
      (if (i32.and (i32.eq (local.get $byte) (i32.const 0xed)) (i32.lt_u (local.get $from) (local.get $end)))
        (then
          (if (i32.ge_u (i32.load8_u (local.get $from)) (i32.const 0xa0)) (then (return (i32.const 0))))))
      (local.set $letter (call $letter_of (local.get $byte)))
      (if (i32.eqz (local.get $letter)) (then (return (i32.const 0))))
      (if (i32.ne (local.get $letter) (i32.const 1))
        (then
          (i32.store8 (local.get $to) (i32.const 0x5c)) ;; a backslash
          (local.set $to (i32.add (local.get $to) (i32.const 1)))
          (local.set $byte (local.get $letter))))
      (i32.store8 (local.get $to) (local.get $byte))
      (local.set $to (i32.add (local.get $to) (i32.const 1)))
      (br $next))
    (unreachable))

  ;; Replaces the inside of a JSON string with its text, in place. Returns the end of the text; 0 for a "\u", and for what
  ;; is not the inside of one string.
  (func (export "unquote") (param $from i32) (param $end i32) (result i32)
    (local $to i32) (local $word i64) (local $byte i32)
    (local.set $to (local.get $from))
    (loop $next
      (if (i32.eq (local.get $from) (local.get $end)) (then (return (local.get $to))))
      (if (i32.ge_u (i32.sub (local.get $end) (local.get $from)) (i32.const 8))
        (then
          (local.set $word (i64.load (local.get $from)))
          (if (i32.eqz (call $has_special (local.get $word)))
            (then
              (i64.store (local.get $to) (local.get $word))
              (local.set $from (i32.add (local.get $from) (i32.const 8)))
              (local.set $to (i32.add (local.get $to) (i32.const 8)))
              (br $next)))))
      (local.set $byte (i32.load8_u (local.get $from)))
      (local.set $from (i32.add (local.get $from) (i32.const 1)))
      (if (i32.lt_u (local.get $byte) (i32.const 0x20)) (then (return (i32.const 0))))
      (if (i32.eq (local.get $byte) (i32.const 0x22)) (then (return (i32.const 0))))
      (if (i32.eq (local.get $byte) (i32.const 0x5c))
        (then
          (if (i32.eq (local.get $from) (local.get $end)) (then (return (i32.const 0))))
          (local.set $byte (call $byte_of (i32.load8_u (local.get $from))))
          (if (i32.eqz (local.get $byte)) (then (return (i32.const 0))))
          (local.set $from (i32.add (local.get $from) (i32.const 1)))))
      (i32.store8 (local.get $to) (local.get $byte))
      (local.set $to (i32.add (local.get $to) (i32.const 1)))
      (br $next))
    (unreachable))

  ;; Whether one of eight bytes is a control character, a quotation mark or a backslash. The highest bit of a byte of
  ;; (x - y) & ~x is set if one of the bytes of x is below the bytes of y, which are equal and at most 0x80. Written out
  ;; three times, because a call would take longer than the rest.
  (func $has_special (param $word i64) (result i32)
    (local $no_mark i64) (local $no_slash i64)
    (local.set $no_mark (i64.xor (local.get $word) (i64.const 0x2222222222222222)))
    (local.set $no_slash (i64.xor (local.get $word) (i64.const 0x5c5c5c5c5c5c5c5c)))
    (i64.ne
      (i64.const 0)
      (i64.and
        (i64.const 0x8080808080808080)
        (i64.or
          (i64.and
            (i64.sub (local.get $word) (i64.const 0x2020202020202020))
            (i64.xor (local.get $word) (i64.const -1)))
          (i64.or
            (i64.and
              (i64.sub (local.get $no_mark) (i64.const 0x0101010101010101))
              (i64.xor (local.get $no_mark) (i64.const -1)))
            (i64.and
              (i64.sub (local.get $no_slash) (i64.const 0x0101010101010101))
              (i64.xor (local.get $no_slash) (i64.const -1))))))))

  ;; Whether one of eight bytes is 0xed, with which a lone surrogate begins.
  (func $has_surrogate_lead (param $word i64) (result i32)
    (local.set $word (i64.xor (local.get $word) (i64.const 0xedededededededed)))
    (i64.ne
      (i64.const 0)
      (i64.and
        (i64.const 0x8080808080808080)
        (i64.and
          (i64.sub (local.get $word) (i64.const 0x0101010101010101))
          (i64.xor (local.get $word) (i64.const -1))))))

  ;; The letter of a byte's escape; 1 for a byte that needs none, 0 for one that needs "\u".
  (func $letter_of (param $byte i32) (result i32)
    (if (i32.eq (local.get $byte) (i32.const 0x22)) (then (return (i32.const 0x22))))
    (if (i32.eq (local.get $byte) (i32.const 0x5c)) (then (return (i32.const 0x5c))))
    (if (i32.ge_u (local.get $byte) (i32.const 0x20)) (then (return (i32.const 1))))
    (if (i32.eq (local.get $byte) (i32.const 0x0a)) (then (return (i32.const 0x6e)))) ;; n
    (if (i32.eq (local.get $byte) (i32.const 0x0d)) (then (return (i32.const 0x72)))) ;; r
    (if (i32.eq (local.get $byte) (i32.const 0x09)) (then (return (i32.const 0x74)))) ;; t
    (if (i32.eq (local.get $byte) (i32.const 0x08)) (then (return (i32.const 0x62)))) ;; b
    (if (i32.eq (local.get $byte) (i32.const 0x0c)) (then (return (i32.const 0x66)))) ;; f
    (i32.const 0))

  ;; The byte that an escape's letter stands for; 0 for another letter.
  (func $byte_of (param $letter i32) (result i32)
    (if (i32.eq (local.get $letter) (i32.const 0x22)) (then (return (i32.const 0x22))))
    (if (i32.eq (local.get $letter) (i32.const 0x5c)) (then (return (i32.const 0x5c))))
    (if (i32.eq (local.get $letter) (i32.const 0x2f)) (then (return (i32.const 0x2f)))) ;; a slash
    (if (i32.eq (local.get $letter) (i32.const 0x6e)) (then (return (i32.const 0x0a))))
    (if (i32.eq (local.get $letter) (i32.const 0x72)) (then (return (i32.const 0x0d))))
    (if (i32.eq (local.get $letter) (i32.const 0x74)) (then (return (i32.const 0x09))))
    (if (i32.eq (local.get $letter) (i32.const 0x62)) (then (return (i32.const 0x08))))
    (if (i32.eq (local.get $letter) (i32.const 0x66)) (then (return (i32.const 0x0c))))
    (i32.const 0)))
