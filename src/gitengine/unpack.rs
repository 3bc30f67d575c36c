//! Objects that edio has made, given to git to be stored: blobs and trees alike, in one process.
//!
//! They go as a pack, which git takes apart. What is in it is not compressed: git does that where it stores.

use super::command::{Ask, Git};
use super::error::Result;
use super::objects::ObjectFormat;

/// The objects of a pack, as they are in it.
pub(super) struct Made {
    format: ObjectFormat,
    count: u32,
    objects: Vec<u8>,
}

/// What an object in a pack is (gitformat-pack(5)).
#[derive(Clone, Copy)]
pub(super) enum Kind {
    Tree = 2,
    Blob = 3,
}

impl Made {
    /// None yet.
    pub fn new(format: ObjectFormat) -> Self {
        Self {
            format,
            count: 0,
            objects: Vec::new(),
        }
    }

    /// Adds one.
    pub fn add(&mut self, kind: Kind, content: &[u8]) {
        self.count += 1;
        // Four bits of the length beside the type, then seven a byte, the lowest first; the highest bit says that more
        // follow.
        let mut rest = content.len() >> 4;
        let mut byte = ((kind as u8) << 4) | (content.len() & 0xf) as u8;
        while rest > 0 {
            self.objects.push(byte | 0x80);
            byte = (rest & 0x7f) as u8;
            rest >>= 7;
        }
        self.objects.push(byte);
        self.store(content);
    }

    /// Adds bytes as zlib has them that are not compressed (RFC 1950, RFC 1951).
    fn store(&mut self, content: &[u8]) {
        const LONGEST: usize = u16::MAX as usize;
        self.objects.extend([0x78, 0x01]);
        let count = content.len().div_ceil(LONGEST).max(1);
        for number in 0..count {
            let rest = &content[number * LONGEST..];
            let block = &rest[..rest.len().min(LONGEST)];
            let length = block.len() as u16;
            self.objects.push(u8::from(number + 1 == count));
            self.objects.extend(length.to_le_bytes());
            self.objects.extend((!length).to_le_bytes());
            self.objects.extend(block);
        }
        self.objects.extend(adler32(content).to_be_bytes());
    }

    fn pack(self) -> Vec<u8> {
        let head = [
            &b"PACK"[..],
            &2_u32.to_be_bytes(),
            &self.count.to_be_bytes(),
        ]
        .concat();
        let mut pack = [head, self.objects].concat();
        let checksum = self.format.checksum(&pack);
        pack.extend(checksum);
        pack
    }
}

fn adler32(content: &[u8]) -> u32 {
    // So many bytes can be summed up before the sum may be too large.
    const SAFE: usize = 5552;
    let (mut one, mut all) = (1_u32, 0_u32);
    for bytes in content.chunks(SAFE) {
        for byte in bytes {
            one += u32::from(*byte);
            all += one;
        }
        one %= 65521;
        all %= 65521;
    }
    (all << 16) | one
}

impl Git {
    /// Stores these objects, whatever they lead to.
    ///
    /// # Errors
    ///
    /// git failed.
    pub(super) fn store(&self, made: Made) -> Result<()> {
        self.ask_to_store().input(made.pack()).run_silently()
    }

    pub(super) fn ask_to_store(&self) -> Ask {
        self.ask("unpack-objects").arg("-q")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_as_zlib_does() {
        assert_eq!(adler32(b""), 1);
        assert_eq!(adler32(b"Wikipedia"), 0x11E6_0398);
        assert_eq!(adler32(&[0xff; 100_000]), 0x149A_302C);
    }
}
