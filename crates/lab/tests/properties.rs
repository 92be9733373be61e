//! Properties that the tests and the fuzz targets share.

pub(crate) mod capture_file;
