//! Manual pages, generated from the definition of a program's command line (man-pages(7)).

use crate::{Error, screen};
use clap::Command;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, roman};
use std::io::{self, Write};

/// Writes the page of a program in section 8 to standard output: its options, and each of its commands with theirs.
/// `more` contains further sections: a title and paragraphs; indented paragraphs keep their formatting.
///
/// # Errors
/// If standard output is closed.
pub fn write(command: Command, more: &[(&str, &str)]) -> Result<(), Error> {
    screen::write(|out| out.write_all(&page(command, more)?))
}

fn page(command: Command, more: &[(&str, &str)]) -> Result<Vec<u8>, io::Error> {
    let mut command = command.disable_help_subcommand(true);
    command.build();
    let mut page = Vec::new();
    let man = Man::new(command.clone()).section("8");
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    for one in command.get_subcommands().filter(|one| !one.is_hide_set()) {
        let title = one.get_name().to_uppercase();
        let man = Man::new(one.clone());
        Roff::new().control("SH", [title.as_str()]).to_writer(&mut page)?;
        let mut section = Vec::new();
        man.render_synopsis_section(&mut section)?;
        man.render_description_section(&mut section)?;
        if one.get_arguments().any(|argument| !argument.is_hide_set()) {
            man.render_options_section(&mut section)?;
        }
        // Its headings become subsections.
        page.extend(String::from_utf8_lossy(&section).replace(".SH ", ".SS ").bytes());
    }
    for (title, text) in more {
        let mut section = Roff::new();
        section.control("SH", [*title]);
        for paragraph in text.trim_matches('\n').split("\n\n") {
            let kept = paragraph.starts_with(' ');
            section.control(if kept { "EX" } else { "PP" }, []);
            for line in paragraph.lines() {
                section.text([roman(line)]);
            }
            if kept {
                section.control("EE", []);
            }
        }
        section.to_writer(&mut page)?;
    }
    Ok(page)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Arg;

    #[test]
    fn a_page_has_every_command_with_its_options_but_hidden_ones() {
        let run = Command::new("run").about("Do it.").arg(Arg::new("fast").long("fast").help("At once."));
        let command = Command::new("prog").about("Does something.").subcommand(run);
        let command = command.subcommand(Command::new("manual").hide(true));
        let page = String::from_utf8(page(command, &[("FILES", "One.\n\n  a = 1\n  b = 2")]).unwrap()).unwrap();
        for part in [".TH prog 8", ".SH RUN", ".SS OPTIONS", "At once.", ".SH FILES", ".EX"] {
            assert!(page.contains(part), "{part}: {page}");
        }
        assert!(!page.to_lowercase().contains("manual"), "{page}");
    }
}
