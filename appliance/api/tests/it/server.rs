//! A running API for one test.

use crate::backend::Fake;
use crate::http::{Answer, Request};
use millrace_api::{Backend, Listener, Settings, router, serve};
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::sync::oneshot;
use tokio::task::JoinSet;

/// Ends with the test.
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    pub(crate) backend: Arc<Fake>,
    stop: oneshot::Sender<()>,
    tasks: JoinSet<()>,
}

impl Server {
    pub(crate) async fn start() -> Self {
        Self::start_with(Settings::loopback()).await
    }

    pub(crate) async fn start_with(settings: Settings) -> Self {
        let backend = Arc::new(Fake::new());
        let listener = Listener::bind("127.0.0.1:0".parse().unwrap(), None).await.unwrap();
        let address = listener.local_address().unwrap();
        let router = router(Arc::clone(&backend) as Arc<dyn Backend>, settings);
        let (stop, stopped) = oneshot::channel::<()>();
        let mut tasks = JoinSet::new();
        tasks.spawn(serve(listener, router, async move { drop(stopped.await) }));
        Self { address, backend, stop, tasks }
    }

    pub(crate) async fn get(&self, token: &str, target: &str) -> Answer {
        Request::get(target).token(token).send(self.address).await
    }

    pub(crate) async fn post(&self, token: &str, target: &str, body: &str) -> Answer {
        Request::new("POST", target).token(token).json(body).send(self.address).await
    }

    /// Stops and waits for the end.
    pub(crate) async fn stop(mut self) {
        self.stop.send(()).unwrap();
        while self.tasks.join_next().await.is_some() {}
    }
}
