//! LibreOffice without a window: opens a worksheet, recalculates it, writes it out as plain XML.

use crate::worksheet::xlsx::repacked;
use std::path::PathBuf;
use std::process::Command;

/// Settings with which every formula is calculated when a file is opened.
const ALWAYS: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\
    <oor:items xmlns:oor=\"http://openoffice.org/2001/registry\" \
    xmlns:xs=\"http://www.w3.org/2001/XMLSchema\" \
    xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\">\
    <item oor:path=\"/org.openoffice.Office.Calc/Formula/Load\">\
    <prop oor:name=\"OOXMLRecalcMode\" oor:op=\"fuse\"><value>0</value></prop></item></oor:items>";

/// The program.
pub(super) struct Office(PathBuf);

/// A sheet's cells as text, by row and column.
pub(super) type Cells = Vec<Vec<String>>;

impl Office {
    pub(super) fn find() -> Option<Self> {
        let path = std::env::var_os("PATH")?;
        let names = ["soffice", "libreoffice", "localc"];
        let all = std::env::split_paths(&path);
        let mut found = all.flat_map(|folder| names.map(|name| folder.join(name)));
        found.find(|program| program.is_file()).map(Self)
    }

    /// The cells of all sheets of each file after a recalculation.
    pub(super) fn recalculated(&self, files: &[(&str, Vec<u8>)]) -> Vec<Vec<Cells>> {
        let folder = tempfile::tempdir().unwrap();
        let write = |file: PathBuf, bytes: &[u8]| {
            std::io::Write::write_all(&mut std::fs::File::create(file).unwrap(), bytes).unwrap();
        };
        // Files of Excel keep their results unless the reader asks for a recalculation.
        let user = folder.path().join("u").join("user");
        std::fs::create_dir_all(&user).unwrap();
        write(user.join("registrymodifications.xcu"), ALWAYS.as_bytes());
        let profile = format!("-env:UserInstallation=file://{}", folder.path().join("u").display());
        let mut command = Command::new(&self.0);
        command.arg(profile).args(["--headless", "--norestore", "--convert-to", "fods"]);
        command.arg("--outdir").arg(folder.path());
        for (name, bytes) in files {
            let file = folder.path().join(format!("{name}.xlsx"));
            write(file.clone(), bytes);
            command.arg(file);
        }
        let output = command.output().unwrap();
        let read = |(name, _): &(&str, Vec<u8>)| {
            let text = std::fs::read_to_string(folder.path().join(format!("{name}.fods")));
            let said = String::from_utf8_lossy(&output.stderr);
            tables(&text.unwrap_or_else(|error| panic!("{name}: {error}: {said}")))
        };
        files.iter().map(read).collect()
    }
}

/// The file with every result of a formula replaced by one that is wrong.
pub(super) fn without_results(bytes: &[u8]) -> Vec<u8> {
    repacked(bytes, |text| {
        let mut pieces = text.split("</f><v>");
        let mut out = pieces.next().unwrap_or_default().to_owned();
        for piece in pieces {
            let (_, after) = piece.split_once("</v>").unwrap();
            out.push_str("</f><v>-1</v>");
            out.push_str(after);
        }
        out
    })
}

fn attribute<'a>(tag: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = tag.split_once(&format!(" {name}=\""))?;
    rest.split('"').next()
}

fn count(tag: &str, name: &str) -> usize {
    attribute(tag, name).map_or(1, |text| text.parse().unwrap())
}

fn plain(text: &str) -> String {
    let text = text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"");
    text.replace("&apos;", "'").replace("&amp;", "&")
}

/// The text without embedded objects: a chart brings a table of its own.
fn without_charts(text: &str) -> String {
    let mut pieces = text.split("<draw:object");
    let mut out = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        out.push_str(piece.split_once("</draw:object>").map_or("", |(_, after)| after));
    }
    out
}

/// The tables of a flat OpenDocument file. Cells that repeat are repeated up to what a sheet has.
fn tables(text: &str) -> Vec<Cells> {
    let text = without_charts(text);
    let mut all = Vec::new();
    for table in text.split("<table:table ").skip(1) {
        let table = table.split("</table:table>").next().unwrap();
        let mut rows = Vec::new();
        for row in table.split("<table:table-row").skip(1) {
            let (tag, body) = row.split_once('>').unwrap();
            let cells = if tag.ends_with('/') { Vec::new() } else { cells(body) };
            let repeated = count(tag, "table:number-rows-repeated").min(1000);
            rows.extend(std::iter::repeat_n(cells, repeated));
        }
        all.push(rows);
    }
    all
}

fn cells(row: &str) -> Vec<String> {
    let mut cells = Vec::new();
    for cell in row.split("<table:table-cell").skip(1) {
        let (tag, body) = cell.split_once('>').unwrap();
        let value = match attribute(tag, "office:value-type") {
            Some("float" | "percentage" | "currency") => {
                attribute(tag, "office:value").unwrap().to_owned()
            }
            Some(_) => words(tag, body),
            None => String::new(),
        };
        let repeated = count(tag, "table:number-columns-repeated").min(100);
        cells.extend(std::iter::repeat_n(value, repeated));
    }
    cells
}

/// The words of a cell: its `string-value`, else its paragraphs.
fn words(tag: &str, body: &str) -> String {
    if let Some(text) = attribute(tag, "office:string-value") {
        return plain(text);
    }
    let paragraphs = body.split("<text:p").skip(1).map(|part| {
        let part = part.split_once('>').unwrap().1;
        part.split("</text:p>").next().unwrap().to_owned()
    });
    let text = paragraphs.collect::<Vec<_>>().join("\n");
    // Spans and repeated blanks have tags of their own.
    let mut out = String::new();
    let mut inside = false;
    for c in text.replace("<text:s/>", " ").chars() {
        match c {
            '<' => inside = true,
            '>' => inside = false,
            c if !inside => out.push(c),
            _ => {}
        }
    }
    plain(&out)
}
