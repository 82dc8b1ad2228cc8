// A noisy count: how many rows the dataset has, with noise of the geometric
// mechanism. Under the relation add-remove it is 1-differentially private.
//
//   rustc --target wasm32-unknown-unknown --crate-type cdylib -C opt-level=2 -C panic=abort -C strip=symbols -o count-rs.wasm count.rs

/// Gives memory to the caller. Every call of sample is made on a fresh instance,
/// so nothing is ever freed.
#[no_mangle]
pub extern "C" fn alloc(bytes: i32) -> *mut u64 {
    Vec::with_capacity((bytes as usize + 7) / 8).leak().as_mut_ptr()
}

/// Numbers of one output.
#[no_mangle]
pub extern "C" fn width() -> i32 {
    1
}

struct Random(u64);

impl Random {
    /// SplitMix64, as a number uniform on the multiples of 2^-53 in [0, 1).
    fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E3779B97F4A7C15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xBF58476D1CE4E5B9);
        z = (z ^ z >> 27).wrapping_mul(0x94D049BB133111EB);
        ((z ^ z >> 31) >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// How often a coin that shows heads with probability exp(-1) does so in a row.
    fn geometric(&mut self) -> f64 {
        let mut k = 0.0;
        while self.uniform() < 0.36787944117144233 {
            k += 1.0;
        }
        k
    }
}

/// n outputs on a dataset of rows by columns numbers, drawn from the seed alone.
///
/// # Safety
/// dataset holds rows * columns numbers, out has room for n * width() numbers.
#[no_mangle]
pub unsafe extern "C" fn sample(seed: i64, dataset: *const f64, rows: i32, columns: i32, n: i32, out: *mut f64) -> i32 {
    let rows_of_numbers = std::slice::from_raw_parts(dataset, (rows * columns) as usize);
    let count = rows_of_numbers.chunks(columns as usize).count() as f64;
    let mut random = Random(seed as u64);
    for place in std::slice::from_raw_parts_mut(out, n as usize) {
        let more = random.geometric();
        *place = count + more - random.geometric();
    }
    0 // any other number is an error
}
