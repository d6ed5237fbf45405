//! The step `file.append`. Its input passes on unchanged.
//!
//! **Invariants**: a stub records the fields and touches no file.

use super::Append;
use crate::call::Call;
use crate::fields::{Fields, Reader, bytes_of, text_of};
use crate::limits::{FILE_BYTES, FILES_KEPT, FILES_KEPT_MAX, LINE_BYTES_MAX};
use crate::pool::Pool;
use millrace_engine::step::{Context, Outcome, Step, StepFault};
use millrace_engine::{CompileFault, Compiler};
use millrace_flow::{Data, document};
use std::sync::Arc;

#[derive(Debug)]
struct FileAppend {
    pool: Arc<Pool>,
    fields: Fields,
    line_end: &'static str,
    size_bytes_max: u64,
    keep_files: u32,
}

pub(crate) fn compile(
    step: &document::Step,
    compiler: &mut Compiler<'_>,
    pool: &Arc<Pool>,
) -> Result<Arc<dyn Step>, CompileFault> {
    let mut reader = Reader::new(step, compiler)?;
    if !reader.evaluated("file")? {
        return Err(reader.fault("file", "is missing"));
    }
    reader.own_value()?;
    let line_end = reader.choice("line_end", &[("lf", "\n"), ("crlf", "\r\n"), ("none", "")])?;
    let size = reader.whole("size_bytes_max")?.unwrap_or(FILE_BYTES);
    let kept = reader.whole("keep_files")?.map(u32::try_from).and_then(Result::ok);
    Ok(Arc::new(FileAppend {
        pool: Arc::clone(pool),
        line_end,
        size_bytes_max: size,
        keep_files: kept.unwrap_or(FILES_KEPT).min(FILES_KEPT_MAX),
        fields: reader.finish(),
    }))
}

impl Step for FileAppend {
    fn execute(&self, context: &mut dyn Context, input: &Data) -> Result<Outcome, StepFault> {
        let values = self.fields.evaluate(context, input)?;
        let input = input.clone();
        if context.is_stubbed() {
            let answer = context.stub(Data::Map(Arc::new(values)))?;
            return Ok(Outcome::Out(0, if answer == Data::Missing { input } else { answer }));
        }
        let place = self.pool.files.place(&text_of(&values, "file")?)?;
        let line = values.get("value").map(bytes_of).unwrap_or_default();
        if line.len() > LINE_BYTES_MAX {
            let message = format!("the line has {} bytes, {LINE_BYTES_MAX} at most", line.len());
            return Err(StepFault::lasting("limit", message));
        }
        let held = self.pool.budget.take(line.len())?;
        let append = Append {
            place,
            line,
            line_end: self.line_end,
            size_bytes_max: self.size_bytes_max,
            keep_files: self.keep_files,
        };
        let pool = Arc::clone(&self.pool);
        // One target for all: names of files may change every day.
        let call = Call::new(&pool.targets, "files".to_owned(), context);
        Ok(call.wait(move |_| async move {
            pool.files.append(append).await?;
            drop(held);
            Ok(input)
        }))
    }
}
