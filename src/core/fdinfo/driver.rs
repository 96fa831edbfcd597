//! What the DRM drivers call their memory, a row a driver.

/// Which memory a region is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Region {
    /// System memory mapped for the GPU.
    Gtt,
    /// The GPU's own memory, or what the firmware set apart for it.
    Vram,
    /// System memory of the driver that the GPU does not see now.
    Cpu,
}

/// A driver's row. A pattern is a region's name; with `*` at its end, every name that begins so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Driver {
    /// As `drm-driver` says it; empty for all that have no row of their own.
    pub name: &'static str,
    /// Its regions, first match first.
    pub regions: &'static [(&'static str, Region)],
    /// Names of its files in the device's sysfs folder: GTT in use, GTT in all, VRAM in all.
    pub device: Option<[&'static str; 3]>,
}

/// The rows; the last one is for everybody else. Regions that no pattern names are none of these memories: `gds`, `gws`,
/// `oa`, `doorbell`, `mmioremap`, `stolen*`.
pub const DRIVERS: [Driver; 4] = [
    Driver {
        name: "amdgpu",
        regions: &[("gtt", Region::Gtt), ("vram*", Region::Vram), ("cpu", Region::Cpu)],
        device: Some(["mem_info_gtt_used", "mem_info_gtt_total", "mem_info_vram_total"]),
    },
    Driver {
        name: "xe",
        regions: &[("gtt", Region::Gtt), ("system*", Region::Gtt), ("vram*", Region::Vram)],
        device: None,
    },
    Driver {
        name: "i915",
        regions: &[("system*", Region::Gtt), ("memory", Region::Gtt), ("local*", Region::Vram)],
        device: None,
    },
    Driver {
        name: "",
        regions: &[
            ("gtt", Region::Gtt),
            ("system*", Region::Gtt),
            ("memory", Region::Gtt),
            ("vram*", Region::Vram),
            ("local*", Region::Vram),
            ("cpu", Region::Cpu),
        ],
        device: None,
    },
];

/// A driver's row.
pub fn driver(name: &[u8]) -> &'static Driver {
    let [named @ .., others] = &DRIVERS;
    named.iter().find(|d| d.name.as_bytes() == name).unwrap_or(others)
}

impl Driver {
    /// Which memory a region's name stands for.
    pub fn region(&self, name: &[u8]) -> Option<Region> {
        let matches = |pattern: &str| match pattern.strip_suffix('*') {
            Some(begin) => name.starts_with(begin.as_bytes()),
            None => name == pattern.as_bytes(),
        };
        self.regions.iter().find(|(pattern, _)| matches(pattern)).map(|(_, region)| *region)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_region_is_known_by_its_driver() {
        let region = |of: &str, name: &str| driver(of.as_bytes()).region(name.as_bytes());
        assert_eq!(region("amdgpu", "gtt"), Some(Region::Gtt));
        assert_eq!(region("xe", "vram1"), Some(Region::Vram));
        assert_eq!(region("i915", "system0"), Some(Region::Gtt));
        assert_eq!(region("panfrost", "memory"), Some(Region::Gtt));
        for (of, name) in [
            ("amdgpu", "gds"),
            ("amdgpu", "gws"),
            ("amdgpu", "oa"),
            ("amdgpu", "doorbell"),
            ("amdgpu", "mmioremap"),
            ("i915", "stolen-system0"),
            ("xe", "stolen"),
        ] {
            assert_eq!(region(of, name), None, "{of} {name}");
        }
    }
}
