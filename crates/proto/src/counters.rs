//! Structs of named counters: one list of fields generates the struct, its sum and the names used in results.

/// Declares a struct of `u64` counters with `add` and `named`.
macro_rules! counters {
    ($(#[$meta:meta])* pub struct $name:ident { $($(#[$doc:meta])* pub $field:ident: u64,)+ }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
        pub struct $name { $($(#[$doc])* pub $field: u64,)+ }

        impl $name {
            /// Adds the counts of `other`.
            pub fn add(&mut self, other: &$name) {
                $(self.$field += other.$field;)+
            }

            /// Returns every counter with its name, in field order.
            pub fn named(&self) -> impl Iterator<Item = (&'static str, u64)> + use<> {
                [$((stringify!($field), self.$field),)+].into_iter()
            }
        }
    };
}

pub(crate) use counters;
