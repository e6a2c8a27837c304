//! A folder of Parquet files: one file per table, or numbered folders with such files. The oldest folders are removed.

use super::{Rows, Sink, TableAbout, TableWriter, Tables};
use parquet::basic::Encoding;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::ColumnPath;
use std::fs::{self, File};
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Layout of a trace in its folder.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Form {
    /// One file per table.
    #[default]
    Whole,
    /// One folder per part; this number of parts is kept.
    Parts(usize),
}

/// Name of the description.
const META: &str = "meta.json";
/// Suffix of incomplete files and folders.
const PART: &str = "part";

/// A trace on disk.
pub struct Folder {
    path: PathBuf,
    form: Form,
    tables: Vec<TableAbout>,
    files: Vec<TableWriter>,
    /// Number of the part being written.
    part: usize,
}

impl Folder {
    /// Begins a trace in `path`, which is created if it does not exist. An earlier trace in it is removed.
    ///
    /// # Errors
    /// If something cannot be created or removed.
    pub fn create(path: &Path, form: Form) -> io::Result<Folder> {
        fs::create_dir_all(path)?;
        let mut folder = Folder { path: path.to_owned(), form, tables: Tables::about(), files: Vec::new(), part: 0 };
        folder.clear()?;
        folder.open()?;
        Ok(folder)
    }

    /// Removes an earlier trace, and nothing else.
    fn clear(&self) -> io::Result<()> {
        for entry in fs::read_dir(&self.path)? {
            let path = entry?.path();
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            let name = name.strip_suffix(&format!(".{PART}")).unwrap_or(name);
            let is_table = || self.tables.iter().any(|table| name.strip_suffix(".parquet") == Some(table.name));
            if name == META || name == crate::run::RESULT || is_table() {
                fs::remove_file(&path)?;
            } else if path.is_dir() && name.len() == 6 && name.bytes().all(|byte| byte.is_ascii_digit()) {
                fs::remove_dir_all(&path)?;
            }
        }
        Ok(())
    }

    fn part_folder(&self, part: usize) -> PathBuf {
        self.path.join(format!("{part:06}"))
    }

    fn open(&mut self) -> io::Result<()> {
        let (folder, suffix) = match self.form {
            Form::Whole => (self.path.clone(), format!(".{PART}")),
            Form::Parts(_) => (self.part_folder(self.part).with_extension(PART), String::new()),
        };
        fs::create_dir_all(&folder)?;
        let open = |table: &TableAbout| {
            let file = File::create(folder.join(format!("{}.parquet{suffix}", table.name)))?;
            SerializedFileWriter::new(BufWriter::new(file), table.schema.clone(), Arc::new(properties(table)))
                .map_err(into_io)
        };
        self.files = self.tables.iter().map(open).collect::<io::Result<_>>()?;
        Ok(())
    }

    /// Finishes the open files and gives them their final names.
    fn close(&mut self) -> io::Result<()> {
        for mut file in self.files.drain(..) {
            file.finish().map_err(into_io)?;
        }
        match self.form {
            Form::Whole => self.tables.iter().try_for_each(|table| {
                let name = self.path.join(format!("{}.parquet", table.name));
                fs::rename(name.with_extension(format!("parquet.{PART}")), &name)
            }),
            Form::Parts(kept) => {
                let folder = self.part_folder(self.part);
                fs::rename(folder.with_extension(PART), &folder)?;
                match self.part.checked_sub(kept) {
                    Some(oldest) => fs::remove_dir_all(self.part_folder(oldest)),
                    None => Ok(()),
                }
            }
        }
    }

    /// Replaces the description atomically: a reader finds either the old or the new one.
    fn describe(&self, meta: &str) -> io::Result<()> {
        let name = self.path.join(META);
        let part = self.path.join(format!("{META}.{PART}"));
        fs::write(&part, meta)?;
        fs::rename(part, name)
    }
}

impl Sink for Folder {
    fn write(&mut self, rows: &mut dyn Rows) -> io::Result<()> {
        let file = &mut self.files[rows.table()];
        rows.write(file).map_err(into_io)
    }

    fn next_part(&mut self, meta: &str) -> io::Result<()> {
        self.describe(meta)?;
        if let Form::Parts(_) = self.form {
            self.close()?;
            self.part += 1;
            self.open()?;
        }
        Ok(())
    }

    fn finish(&mut self, meta: &str) -> io::Result<()> {
        self.close()?;
        self.describe(meta)
    }
}

/// Encodes times and counters as differences, everything else with a dictionary: neither needs compression, which would
/// need another library.
fn properties(table: &TableAbout) -> WriterProperties {
    let mut properties = WriterProperties::builder().set_statistics_enabled(EnabledStatistics::Chunk);
    for column in &table.columns {
        let path = ColumnPath::from(column.name);
        if column.unit == "ns" || ["frame", "packet", "seq", "ack"].contains(&column.name) {
            properties = properties
                .set_column_dictionary_enabled(path.clone(), false)
                .set_column_encoding(path, Encoding::DELTA_BINARY_PACKED);
        }
    }
    properties.build()
}

fn into_io(error: parquet::errors::ParquetError) -> io::Error {
    io::Error::other(error)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn an_earlier_trace_is_removed_and_nothing_else() {
        let path = std::env::temp_dir().join(format!("fourhop-folder-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        let files = ["meta.json", "meta.json.part", "result.json", "frames.parquet", "frames.parquet.part"];
        let others = ["notes.txt", "others.parquet", "frames.csv", "000002", "meta.json.bak"];
        let parts = ["000000", "000001.part"];
        let folders = ["00000", "0000001", "00000a", "frames"];
        for name in parts.into_iter().chain(folders) {
            fs::create_dir_all(path.join(name)).unwrap();
        }
        for name in files.into_iter().chain(others) {
            fs::write(path.join(name), "").unwrap();
        }
        drop(Folder::create(&path, Form::Whole).unwrap());
        let names = fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let made = Tables::about().into_iter().map(|table| format!("{}.parquet.part", table.name));
        let left: BTreeSet<String> = others.into_iter().chain(folders).map(str::to_owned).collect();
        assert_eq!(names.collect::<BTreeSet<_>>(), &left | &made.collect());
        fs::remove_dir_all(&path).unwrap();
    }
}
