;; A noisy count: how many rows the dataset has, with noise of the geometric
;; mechanism. Under the relation add-remove it is 1-differentially private.
;;
;;   wat2wasm count.wat -o count.wasm
(module
  (memory (export "memory") 1)
  (global $top (mut i32) (i32.const 8))   ;; where free memory begins
  (global $state (mut i64) (i64.const 0)) ;; of the generator

  ;; alloc gives memory to the caller. Every call of sample is made on a fresh
  ;; instance, so nothing is ever freed.
  (func (export "alloc") (param $bytes i32) (result i32)
    (local $at i32)
    (local $lack i32)
    (local.set $at (global.get $top))
    (global.set $top
      (i32.and
        (i32.add (i32.add (local.get $at) (local.get $bytes)) (i32.const 7))
        (i32.const -8)))
    (local.set $lack
      (i32.sub
        (i32.shr_u (i32.add (global.get $top) (i32.const 65535)) (i32.const 16))
        (memory.size)))
    (if (i32.gt_s (local.get $lack) (i32.const 0))
      (then
        (if (i32.eq (memory.grow (local.get $lack)) (i32.const -1))
          (then (return (i32.const 0))))))
    (local.get $at))

  ;; Numbers of one output.
  (func (export "width") (result i32) (i32.const 1))

  ;; SplitMix64, as a number uniform on the multiples of 2^-53 in [0, 1).
  (func $uniform (result f64)
    (local $z i64)
    (global.set $state (i64.add (global.get $state) (i64.const 0x9E3779B97F4A7C15)))
    (local.set $z (global.get $state))
    (local.set $z
      (i64.mul
        (i64.xor (local.get $z) (i64.shr_u (local.get $z) (i64.const 30)))
        (i64.const 0xBF58476D1CE4E5B9)))
    (local.set $z
      (i64.mul
        (i64.xor (local.get $z) (i64.shr_u (local.get $z) (i64.const 27)))
        (i64.const 0x94D049BB133111EB)))
    (local.set $z (i64.xor (local.get $z) (i64.shr_u (local.get $z) (i64.const 31))))
    (f64.mul
      (f64.convert_i64_u (i64.shr_u (local.get $z) (i64.const 11)))
      (f64.const 0x1p-53)))

  ;; How often a coin that shows heads with probability exp(-1) does so in a row.
  (func $geometric (result f64)
    (local $k f64)
    (block $done
      (loop $again
        (br_if $done (f64.ge (call $uniform) (f64.const 0.36787944117144233)))
        (local.set $k (f64.add (local.get $k) (f64.const 1)))
        (br $again)))
    (local.get $k))

  ;; n outputs on a dataset of rows by columns numbers, drawn from the seed alone.
  (func (export "sample")
    (param $seed i64) (param $dataset i32) (param $rows i32) (param $columns i32)
    (param $n i32) (param $out i32) (result i32)
    (global.set $state (local.get $seed))
    (block $done
      (loop $again
        (br_if $done (i32.le_s (local.get $n) (i32.const 0)))
        (f64.store (local.get $out)
          (f64.sub
            (f64.add (f64.convert_i32_s (local.get $rows)) (call $geometric))
            (call $geometric)))
        (local.set $out (i32.add (local.get $out) (i32.const 8)))
        (local.set $n (i32.sub (local.get $n) (i32.const 1)))
        (br $again)))
    (i32.const 0)))
