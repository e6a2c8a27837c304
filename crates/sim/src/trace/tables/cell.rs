//! Values in Parquet's representation, and columns of them.

use bytes::Bytes;
use parquet::basic::{LogicalType, Type as Physical};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, FloatType, Int32Type, Int64Type};
use parquet::errors::Result;
use parquet::file::writer::SerializedRowGroupWriter;
use std::io::Write;

/// A value of a table.
pub trait Cell: Sized {
    /// Type in which Parquet stores it.
    type Stored: DataType;
    /// Name of the type in descriptions.
    const NAME: &'static str;
    /// The type in the file.
    const PHYSICAL: Physical;
    /// Whether the value may be missing.
    const OPTIONAL: bool = false;

    /// Returns the logical type for Parquet.
    fn logical() -> Option<LogicalType> {
        None
    }

    /// Returns the value as stored, if any.
    fn stored(self) -> Option<<Self::Stored as DataType>::T>;
}

macro_rules! cells {
    ($($type:ty, $name:literal, $stored:ty, $physical:ident, $logical:expr, |$value:ident| $convert:expr;)+) => {
        $(impl Cell for $type {
            type Stored = $stored;
            const NAME: &'static str = $name;
            const PHYSICAL: Physical = Physical::$physical;

            fn logical() -> Option<LogicalType> {
                $logical
            }

            fn stored(self) -> Option<<$stored as DataType>::T> {
                let $value = self;
                Some($convert)
            }
        })+
    };
}

cells! {
    bool, "bool", BoolType, BOOLEAN, None, |value| value;
    u16, "uint16", Int32Type, INT32, Some(LogicalType::integer(16, false)), |value| i32::from(value);
    // Parquet's unsigned numbers are the signed ones with the same bits.
    u32, "uint32", Int32Type, INT32, Some(LogicalType::integer(32, false)), |value| value as i32;
    i64, "int64", Int64Type, INT64, None, |value| value;
    f32, "float", FloatType, FLOAT, None, |value| value;
    f64, "double", DoubleType, DOUBLE, None, |value| value;
    &'static str, "string", ByteArrayType, BYTE_ARRAY, Some(LogicalType::String),
        |value| ByteArray::from(Bytes::from_static(value.as_bytes()));
}

impl<C: Cell> Cell for Option<C> {
    type Stored = C::Stored;
    const NAME: &'static str = C::NAME;
    const PHYSICAL: Physical = C::PHYSICAL;
    const OPTIONAL: bool = true;

    fn logical() -> Option<LogicalType> {
        C::logical()
    }

    fn stored(self) -> Option<<C::Stored as DataType>::T> {
        self.and_then(C::stored)
    }
}

/// The values of a column that are not written yet.
pub struct Column<C: Cell> {
    values: Vec<<C::Stored as DataType>::T>,
    /// 1 for each present value, 0 for each missing one; empty if no value may be missing.
    levels: Vec<i16>,
}

impl<C: Cell> Default for Column<C> {
    fn default() -> Column<C> {
        Column { values: Vec::new(), levels: Vec::new() }
    }
}

impl<C: Cell> Column<C> {
    pub fn push(&mut self, cell: C) {
        let stored = cell.stored();
        if C::OPTIONAL {
            self.levels.push(i16::from(stored.is_some()));
        }
        self.values.extend(stored);
    }

    /// Writes the next column of a row group, and removes the values.
    pub fn write<W: Write + Send>(&mut self, group: &mut SerializedRowGroupWriter<'_, W>) -> Result<()> {
        if let Some(mut column) = group.next_column()? {
            let levels = C::OPTIONAL.then_some(&self.levels[..]);
            column.typed::<C::Stored>().write_batch(&self.values, levels, None)?;
            column.close()?;
        }
        self.values.clear();
        self.levels.clear();
        Ok(())
    }
}
