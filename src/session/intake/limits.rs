//! How much is taken in before an input counts as a bomb or a mistake. Every limit that is hit is said aloud.

/// The limits of one intake.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Files of all arguments together.
    pub files: usize,
    /// Folders below one another.
    pub folder_depth: usize,
    /// Members of one archive.
    pub members: usize,
    /// Archives and compressed files inside one another.
    pub nesting: usize,
    /// Bytes of one input, unpacked.
    pub input_bytes: u64,
    /// Bytes of all members of archives, unpacked: they are held until they are read.
    pub unpacked_bytes: u64,
    /// Unpacked bytes for each packed one. Deflate reaches 1,032 at most; logs and metrics reach 10 to 100.
    pub ratio: u64,
    /// Below so many unpacked bytes the ratio does not matter: small files of one repeated byte are no bombs.
    pub ratio_from_bytes: u64,
    /// Bytes of a sidecar.
    pub sidecar_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            files: 100_000,
            folder_depth: 64,
            members: 50_000,
            nesting: 4,
            input_bytes: 4 << 30,
            unpacked_bytes: 4 << 30,
            ratio: 200,
            ratio_from_bytes: 64 << 20,
            sidecar_bytes: 64 << 20,
        }
    }
}

impl Limits {
    /// How many bytes `packed` ones may become.
    pub fn allowed(&self, packed: u64) -> u64 {
        packed
            .saturating_mul(self.ratio)
            .max(self.ratio_from_bytes)
            .min(self.input_bytes)
    }
}
