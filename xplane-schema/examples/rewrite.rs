//! Reads an XSpace from standard input and writes it to standard output: what other protobuf
//! implementations check this crate's encoding with.

use std::io::{self, Read, Write};
use xplane_schema::Message;
use xplane_schema::proto::XSpace;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut bytes = Vec::new();
    io::stdin().read_to_end(&mut bytes)?;
    let space = XSpace::decode(&bytes[..])?;
    io::stdout().write_all(&space.encode_to_vec())?;
    Ok(())
}
