//! Sizing: the stored plan, the load beside it, calibrations.

use crate::client::{Client, check, found, read};
use crate::error::Result;
use millrace_contract::v1;
use reqwest::Method;

impl Client {
    /// The plan that the box compares its load with; `None` when there is none.
    ///
    /// # Errors
    /// See [`crate::Error`]; so for every method.
    pub async fn sizing_plan(&self) -> Result<Option<v1::StoredPlan>> {
        found(self.get(&["sizing", "plan"], &[]).await)
    }

    /// Stores a plan in the place of the one before.
    ///
    /// # Errors
    /// See [`crate::Error`].
    pub async fn set_sizing_plan(&self, new: &v1::NewPlan) -> Result<v1::StoredPlan> {
        let request = self.request(Method::PUT, &["sizing", "plan"], &[]);
        read(request.json(new).send().await?).await
    }

    /// Removes the stored plan.
    ///
    /// # Errors
    /// See [`crate::Error`].
    pub async fn clear_sizing_plan(&self) -> Result<()> {
        let request = self.request(Method::DELETE, &["sizing", "plan"], &[]);
        check(request.send().await?).await.map(drop)
    }

    /// The stored plan beside the load of the last minute; `None` when there is no plan.
    ///
    /// # Errors
    /// See [`crate::Error`].
    pub async fn sizing_comparison(&self) -> Result<Option<v1::PlanComparison>> {
        found(self.get(&["sizing", "comparison"], &[]).await)
    }

    /// How the last calibration stands.
    ///
    /// # Errors
    /// See [`crate::Error`].
    pub async fn calibration(&self) -> Result<v1::Calibration> {
        self.get(&["sizing", "calibration"], &[]).await
    }

    /// Starts a calibration.
    ///
    /// # Errors
    /// See [`crate::Error`].
    pub async fn start_calibration(&self) -> Result<v1::Calibration> {
        read(self.request(Method::POST, &["sizing", "calibration"], &[]).send().await?).await
    }

    /// Cancels the calibration that runs.
    ///
    /// # Errors
    /// See [`crate::Error`].
    pub async fn cancel_calibration(&self) -> Result<v1::Calibration> {
        read(self.request(Method::DELETE, &["sizing", "calibration"], &[]).send().await?).await
    }
}
