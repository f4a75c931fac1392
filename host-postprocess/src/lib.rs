//! What the viewer reads: plane merging, normalisation and the file formats
