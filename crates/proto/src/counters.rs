//! Structs of named counters: one list of fields gives the struct, its sum and its names for results.

/// Declares a struct of `u64` counters with `add` and `named`.
macro_rules! counters {
    ($(#[$meta:meta])* pub struct $name:ident { $($(#[$doc:meta])* pub $field:ident: u64,)+ }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
        pub struct $name { $($(#[$doc])* pub $field: u64,)+ }

        impl $name {
            /// Adds the counts of another.
            pub fn add(&mut self, other: &$name) {
                $(self.$field += other.$field;)+
            }

            /// Every counter with its name, in the order of the fields.
            pub fn named(&self) -> impl Iterator<Item = (&'static str, u64)> + use<> {
                [$((stringify!($field), self.$field),)+].into_iter()
            }
        }
    };
}

pub(crate) use counters;
