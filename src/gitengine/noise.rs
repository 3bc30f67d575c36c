//! Input that no git printed: pieces of its formats in any order, and bytes of any kind. For the tests of what reads it.

use proptest::prelude::*;

const PIECES: [&[u8]; 30] = [
    b"\0",
    b"\n",
    b" ",
    b"\t",
    b":",
    b"/",
    b"..",
    b"@",
    b"-",
    b"? ",
    b"u UU ",
    b"1 .M N... 100644 100644 100755 ",
    b"# branch.oid ",
    b"100644",
    b"160000",
    b"H ",
    b"M",
    b"a/b",
    b".git",
    b"0",
    b"7.2",
    b"99999999999999999999",
    b"tree ",
    b"parent ",
    b"author a <b> 1 +0000",
    b"Edio-Turn: ",
    b"Edio-Version: 1\n",
    b"sess_1_00000000/current",
    b"[{\"path\":\"a\",\"why\":\"nested\"}]",
    b"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
];

/// Any of it.
pub fn noise() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop::sample::select(PIECES.to_vec()).prop_map(<[u8]>::to_vec);
    let bytes = prop::collection::vec(any::<u8>(), 0..4);
    prop::collection::vec(prop_oneof![6 => piece, 1 => bytes], 0..24)
        .prop_map(|parts| parts.concat())
}
