//! Version 1 of the API, below `/api/v1`.

pub mod audit;
pub mod client;
pub mod error;
pub mod issue;
pub mod ledger;
pub mod live;
pub mod page;
pub mod person;
pub mod pipeline;
pub mod run;
pub mod sample;
pub mod secret;
pub mod session;
pub mod sizing;
pub mod system;
pub mod tag;
pub mod tag_file;
pub mod trial;
pub mod value;
pub mod view;

pub use audit::AuditEntry;
pub use client::{Client, ClientRights, ClientsCreated, CreatedClient, NewClients};
pub use error::{ErrorBody, ErrorCode, ErrorDetail, OAuthError};
pub use issue::{Issue, Severity};
pub use ledger::{ClientLedger, Counts, Ledger};
pub use live::{FromClient, LiveFrame, LiveFrameKind, ToClient};
pub use page::Page;
pub use person::{NewPerson, Person, PersonChange, Role};
pub use pipeline::{
    Activity, Deployment, DocumentFault, NewDeployment, NewRevision, Note, Pipeline, PipelineDiff,
    Revision, Running, RunningTrigger, SavedRevision, StoredRevision,
};
pub use run::{
    CanceledRun, Item, NewRun, Run, RunDetail, RunFault, RunLine, RunStatus, RunStep, RunWait,
    RunWaitFor, StartedRun, StepStatus,
};
pub use sample::{Bucket, LastValue, Range, Sample, SamplePage};
pub use secret::{NewSecret, NewVariable, Secret, Variable};
pub use session::{
    Claim, ClaimState, Identity, IdentityKind, Login, OAuthToken, OwnPassword, Session,
};
pub use sizing::{Calibration, CalibrationState, NewPlan, PlanComparison, PlanItem, StoredPlan};
pub use system::{
    Certificate, ConfigEntry, ConfigSource, Health, HealthPart, HealthStatus, Limit, LimitUnit,
    Listener, Measure, Measures, NextStart, Overview, SettingChange, System, Version,
};
pub use tag::{Kind, Level, NewTag, Retention, Schema, Tag, TagChange, Workspace};
pub use tag_file::{TagFile, TagImport, TagImportChange, TagImportFault};
pub use trial::{
    CaseReport, Difference, Effect, EffectKind, PortOutput, RehearsalEvent, RehearsalReport,
    RehearsalRequest, StepTestReport, StepTestRequest, TestReport, TestRequest,
};
pub use value::{RefusedValue, TestValue, TestVerdict};
pub use view::{NewTrendView, TrendView};
