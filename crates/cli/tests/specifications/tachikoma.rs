//! tachikoma
