//! Properties that the tests share with fuzz targets.

pub(crate) mod capture_file;
