//! The device that the target pretends to have: kernels of the public manifests, each with a device time of its own.
//!
//! Names, families and numbers of bindings are those of the `loom_libs` manifest; the times are made up and known, so
//! that a measured profile can be compared with them.

use std::collections::BTreeMap;

use crate::core::kernel_id::kernel_id;

/// A kernel and what it costs here.
#[derive(Debug, PartialEq, Eq)]
pub struct Kernel {
    /// Its family in the manifest.
    pub family: &'static str,
    /// Its name in the manifest.
    pub name: &'static str,
    /// Buffers that it is bound to, the `bindings=` of its lines.
    pub bindings: u32,
    /// Time on the device, µs.
    pub device_us: u64,
}

impl Kernel {
    /// The `kernel_id=` of its lines.
    pub fn id(&self) -> u64 {
        kernel_id(self.family, self.name)
    }
}

/// The family of every kernel here.
pub const FAMILY: &str = "loom_libs";

const fn loom(name: &'static str, bindings: u32, device_us: u64) -> Kernel {
    Kernel { family: FAMILY, name, bindings, device_us }
}

/// Token embedding.
pub static GET_ROWS: Kernel = loom("ggml_get_rows_f32", 3, 9);
/// Norm before attention and before the feed-forward block, decode.
pub static NORM_Q8: Kernel = loom("ggml_rmsnorm_binary_q8_1_x4", 4, 9);
/// Query projection, decode.
pub static PROJECT: Kernel = loom("ggml_mul_mat_f32_f32_decode_wave64", 3, 30);
/// Key and value projections, decode.
pub static PROJECT_DUAL: Kernel = loom("ggml_mul_mat_dual_q4_f32_decode", 5, 20);
/// Rotation of the keys into the cache, decode.
pub static ROPE_SET_ROWS: Kernel = loom("ggml_rope_set_rows_f32", 6, 9);
/// Attention, decode.
pub static ATTENTION_SPLIT: Kernel = loom("ggml_flash_attention_decode_split_f32_f16_wmma_next_q8", 10, 60);
/// Attention output and feed-forward down projection with their residuals, decode: two in each layer.
pub static PROJECT_ADD: Kernel = loom("ggml_mul_mat_add_f32_f32_decode_wave64", 4, 30);
/// Gate and up projections, decode: the kernel that costs most.
pub static SWIGLU_Q8: Kernel = loom("ggml_mul_mat_swiglu_q4_q8_1_x4_lowtoken_dot_q8_output", 5, 120);
/// Norm before the output layer.
pub static NORM: Kernel = loom("ggml_rmsnorm_binary_f32", 3, 9);
/// Output layer: once a program, and the longest of its kernels in decode.
pub static OUTPUT: Kernel = loom("ggml_mul_mat_q6_k_packed_selected_refine_token1", 5, 350);
/// Norm, prefill.
pub static NORM_K16: Kernel = loom("ggml_rmsnorm_binary_f32_k16", 4, 20);
/// Projections, prefill: three in each layer.
pub static PROJECT_WMMA: Kernel = loom("ggml_mul_mat_q4_k_f16_wmma_prefill_wave32", 3, 350);
/// Norm and rotation of queries and keys, prefill.
pub static NORM_ROPE: Kernel = loom("ggml_rmsnorm_mul_rope_f32", 4, 30);
/// Keys and values into the cache, prefill.
pub static SET_ROWS: Kernel = loom("ggml_set_rows", 3, 60);
/// Attention, prefill.
pub static ATTENTION_WMMA: Kernel = loom("ggml_flash_attention_f32_f16_wmma", 6, 700);
/// Gate and up projections, prefill.
pub static SWIGLU_WMMA: Kernel = loom("ggml_mul_mat_swiglu_q4_k_f16_wmma_prefill_wave32", 5, 1200);
/// The one kernel of an init list.
pub static FILL: Kernel = loom("ggml_fill_negative_f32", 1, 9);

/// The order of a program's kernels: the first, the layers one after another, then the two last.
#[derive(Debug)]
pub struct Sequence {
    /// Command 0.
    pub first: &'static Kernel,
    /// The kernels of a layer, repeated for as many commands as there are.
    pub layer: [&'static Kernel; 9],
    /// The last two commands.
    pub last: [&'static Kernel; 2],
}

/// A decode token. 300 commands are 33 layers and take 10.829 ms on the device.
pub static DECODE: Sequence = Sequence {
    first: &GET_ROWS,
    layer: [
        &NORM_Q8,
        &PROJECT,
        &PROJECT_DUAL,
        &ROPE_SET_ROWS,
        &ATTENTION_SPLIT,
        &PROJECT_ADD,
        &NORM_Q8,
        &SWIGLU_Q8,
        &PROJECT_ADD,
    ],
    last: [&NORM, &OUTPUT],
};

/// A prompt. 327 commands are 36 layers and take 111.248 ms on the device.
pub static PREFILL: Sequence = Sequence {
    first: &GET_ROWS,
    layer: [
        &NORM_K16,
        &PROJECT_WMMA,
        &NORM_ROPE,
        &SET_ROWS,
        &ATTENTION_WMMA,
        &PROJECT_WMMA,
        &NORM_K16,
        &SWIGLU_WMMA,
        &PROJECT_WMMA,
    ],
    last: [&NORM, &OUTPUT],
};

impl Sequence {
    /// The kernel of command `index` of `commands`. Short programs keep the first and the last commands.
    pub fn kernel(&self, index: usize, commands: usize) -> &'static Kernel {
        let to_go = commands.saturating_sub(index + 1);
        match (index, to_go) {
            (0, _) => self.first,
            (_, 0) => self.last[1],
            (_, 1) => self.last[0],
            _ => self.layer[(index - 1) % self.layer.len()],
        }
    }

    /// What a run of a program of `commands` commands must show: by kernel id, its dispatches and their device µs.
    pub fn expected(&self, commands: usize) -> BTreeMap<u64, (u64, u64)> {
        let mut sums = BTreeMap::new();
        for index in 0..commands {
            let kernel = self.kernel(index, commands);
            let sum: &mut (u64, u64) = sums.entry(kernel.id()).or_default();
            sum.0 += 1;
            sum.1 += kernel.device_us;
        }
        sums
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documented_sizes_and_times() {
        let total = |sequence: &Sequence, commands| -> u64 {
            sequence.expected(commands).values().map(|(_, us)| us).sum()
        };
        assert_eq!(total(&DECODE, 300), 10_829);
        assert_eq!(total(&PREFILL, 327), 111_248);
        let decode = DECODE.expected(300);
        assert_eq!(decode[&SWIGLU_Q8.id()], (33, 33 * 120));
        assert_eq!(decode[&PROJECT_ADD.id()], (66, 66 * 30));
        assert_eq!(decode[&OUTPUT.id()], (1, 350));
        assert_eq!(decode.values().map(|(n, _)| n).sum::<u64>(), 300);
    }

    #[test]
    fn short_programs_keep_their_ends() {
        let names = |n| -> Vec<&str> { (0..n).map(|i| DECODE.kernel(i, n).name).collect() };
        assert_eq!(names(1), [GET_ROWS.name]);
        assert_eq!(names(2), [GET_ROWS.name, OUTPUT.name]);
        assert_eq!(names(3), [GET_ROWS.name, NORM.name, OUTPUT.name]);
        assert_eq!(names(4), [GET_ROWS.name, NORM_Q8.name, NORM.name, OUTPUT.name]);
    }

    #[test]
    fn ids_are_those_of_the_public_list() {
        assert_eq!(ATTENTION_SPLIT.id(), 11_938_313_152_504_284_411);
        assert_eq!(PROJECT_WMMA.id(), 10_622_350_450_770_575_207);
        assert_eq!(NORM_Q8.id(), 12_531_162_195_330_962_054);
    }
}
