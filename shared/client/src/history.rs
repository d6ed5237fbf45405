//! History: last values, raw samples page by page or as CSV, ranges.

use crate::client::{Client, check};
use crate::error::{Error, Result};
use millrace_contract::v1;
use reqwest::Method;
use std::io;

/// Samples asked for per page.
const PAGE_SAMPLES: u64 = 10_000;

/// Which samples.
#[derive(Clone, Debug)]
pub struct RawQuery {
    /// The tag's path.
    pub path: String,
    /// From here, included: RFC 3339, an epoch number, `now`, `-1h`.
    pub from: String,
    /// To here, not included.
    pub to: String,
    /// At most so many; all when `None`.
    pub limit: Option<u64>,
}

/// Raw samples, page by page.
#[derive(Debug)]
pub struct RawPages {
    client: Client,
    workspace: String,
    query: RawQuery,
    left: u64,
    after: Option<String>,
    incomplete: bool,
}

impl Client {
    /// The last value of each path, in their order; at most 100 paths.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn last(&self, workspace: &str, paths: &[&str]) -> Result<Vec<v1::LastValue>> {
        let query: Vec<_> = paths.iter().map(|path| ("path", *path)).collect();
        let page: v1::Page<_> = self.get(&["workspaces", workspace, "last"], &query).await?;
        Ok(page.items)
    }

    /// A tag's samples in the order of source time, page by page.
    ///
    /// A relative time is relative to the moment of each page's request; give absolute times
    /// where that matters.
    #[must_use]
    pub fn raw(&self, workspace: &str, query: &RawQuery) -> RawPages {
        RawPages {
            client: self.clone(),
            workspace: workspace.to_owned(),
            query: query.clone(),
            left: query.limit.unwrap_or(u64::MAX),
            after: None,
            incomplete: false,
        }
    }

    /// Writes a tag's samples as CSV as they arrive; whether a damaged or missing part may have
    /// held more.
    ///
    /// # Errors
    /// See [`Error`]; when it breaks off, what was written is not all.
    pub async fn raw_csv(
        &self,
        workspace: &str,
        query: &RawQuery,
        out: &mut impl io::Write,
    ) -> Result<bool> {
        let limit = query.limit.map(|limit| limit.to_string());
        let mut fields = vec![
            ("format", "csv"),
            ("path", query.path.as_str()),
            ("from", &query.from),
            ("to", &query.to),
        ];
        fields.extend(limit.as_deref().map(|limit| ("limit", limit)));
        let request = self.request(Method::GET, &["workspaces", workspace, "raw"], &fields);
        let mut response = check(request.send().await?).await?;
        let incomplete = response.headers().contains_key("millrace-incomplete");
        while let Some(chunk) = response.chunk().await? {
            out.write_all(&chunk).map_err(Error::Write)?;
        }
        Ok(incomplete)
    }

    /// A tag's values condensed into intervals of equal length.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn range(
        &self,
        workspace: &str,
        path: &str,
        from: &str,
        to: &str,
        points: u32,
    ) -> Result<v1::Range> {
        let points = points.to_string();
        let query = [("path", path), ("from", from), ("to", to), ("points", &points)];
        self.get(&["workspaces", workspace, "range"], &query).await
    }
}

impl RawPages {
    /// The next page; `None` after the last.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn next(&mut self) -> Result<Option<Vec<v1::Sample>>> {
        if self.left == 0 {
            return Ok(None);
        }
        let limit = self.left.min(PAGE_SAMPLES).to_string();
        let mut query = vec![
            ("path", self.query.path.as_str()),
            ("from", &self.query.from),
            ("to", &self.query.to),
            ("limit", &limit),
        ];
        query.extend(self.after.as_deref().map(|after| ("after", after)));
        let segments = ["workspaces", self.workspace.as_str(), "raw"];
        let page: v1::SamplePage = self.client.get(&segments, &query).await?;
        let read = u64::try_from(page.items.len()).unwrap_or(u64::MAX);
        self.left = self.left.saturating_sub(read);
        if page.next.is_none() {
            self.left = 0;
        }
        self.after = page.next;
        self.incomplete |= page.incomplete;
        Ok((!page.items.is_empty()).then_some(page.items))
    }
    /// Whether a damaged or missing part may have held more than the pages so far.
    #[must_use]
    pub fn is_incomplete(&self) -> bool {
        self.incomplete
    }
}
