//! Rules of RFC 6846 for a decompressor, which streams of the compressor here do not test.
