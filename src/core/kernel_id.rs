//! The 64-bit id of a kernel: what `kernel_id=` in a serial-trace line stands for.

/// The backend's start value; not FNV's usual offset basis.
const START: u64 = 1_469_598_103_934_665_603;
/// FNV's 64-bit prime.
const PRIME: u64 = 1_099_511_628_211;

/// Hash of `family`, a zero byte, `name`, as the HRX backend computes it.
pub fn kernel_id(family: &str, name: &str) -> u64 {
    let bytes = family.bytes().chain(std::iter::once(0)).chain(name.bytes());
    bytes.fold(START, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(PRIME))
}

#[cfg(test)]
mod tests {
    use super::kernel_id;

    #[test]
    fn published_vectors() {
        for (family, name, id) in [
            ("loom_libs", "ggml_mul_mat_f32_f32_wmma", 5_916_100_870_017_593_149),
            ("qwen3_moe", "qwen3_moe_routed_gate_up_swiglu_q4k_q8_1_x4_next_q8", 14_896_872_061_627_543_929),
            (
                "loom_libs",
                "ggml_flash_attention_decode_split_f32_f16_wmma_next_q8",
                11_938_313_152_504_284_411,
            ),
        ] {
            assert_eq!(kernel_id(family, name), id, "{family}:{name}");
        }
    }
}
