//! The sections of individual protocols.

use super::build::Builder;
use super::sections;
use super::write::{Table, table};

macro_rules! own {
    ($($field:ident: $file:ident::$section:ident;)+) => {
        /// Sections that one protocol alone reads, by their names.
        #[derive(Clone, Debug)]
        pub struct OwnSections {
            $(#[doc = concat!("`[", stringify!($field), "]`.")] pub $field: sections::$file::$section,)+
        }

        impl OwnSections {
            pub(super) fn tables(&self) -> Vec<(&'static str, Table)> {
                vec![$(table(&self.$field, None),)+]
            }
        }

        impl Builder {
            pub(super) fn own_sections(&mut self) -> Option<OwnSections> {
                $(let $field = self.section::<sections::$file::$section>();)+
                Some(OwnSections { $($field: $field?.1,)+ })
            }
        }
    };
}

fourhop_settings::own_sections!(own);
