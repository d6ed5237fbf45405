//! Asking for what is in the window: when it moves, and while it goes with the time.
//!
//! **Invariants**
//! - One question at a time, whatever is dragged or wheeled meanwhile; the last window wins.
//! - Nothing is asked any more when the page is left.

use super::desk::Desk;
use super::series::Series;
use super::{WORKSPACE, millis, timestamp};
use crate::api::{Api, Result};
use crate::context::Studio;
use leptos::prelude::*;
use millrace_contract::v1;
use millrace_kit::Window;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Intervals of a line: about one for each pixel or two.
pub(super) const POINTS: u32 = 600;
/// So many samples are taken as they are.
const RAW_MAX: u64 = 1_500;
/// How often the loop looks whether another window is wanted.
const LOOK: Duration = Duration::from_millis(150);
/// The shortest time between two live questions, in milliseconds.
const LIVE_MIN: f64 = 1_000.0;

/// What a question was for.
#[derive(Clone, PartialEq)]
struct Wish {
    topics: Vec<String>,
    window: Window,
}

/// Begins to ask.
pub(super) fn start(studio: &Studio, desk: Desk) {
    let left = Arc::new(AtomicBool::new(false));
    let leaving = Arc::clone(&left);
    on_cleanup(move || leaving.store(true, Ordering::Relaxed));
    let (host, api, clock) = (studio.host.clone(), studio.api.clone(), studio.clock);
    leptos::task::spawn_local(async move {
        let mut units = HashMap::new();
        let mut done: Option<Wish> = None;
        let mut asked = f64::MIN;
        while !left.load(Ordering::Relaxed) {
            let now = millis(clock.now_untracked());
            let window = desk.window.get_untracked();
            // A window of a day gets a new interval every two minutes: no sooner is there news.
            let pause = (window.length() / f64::from(POINTS)).clamp(LIVE_MIN, 60_000.0);
            if desk.live.get_untracked() && now - asked >= pause {
                asked = now;
                desk.window.set(Window::until(now, window.length()));
            }
            let topics = desk.topics.get_untracked();
            let wish = Wish { topics, window: desk.window.get_untracked() };
            if done.as_ref() != Some(&wish) {
                let answer = all(&api, &wish, &mut units).await;
                if left.load(Ordering::Relaxed) {
                    return;
                }
                match answer {
                    Ok(series) if desk.topics.get_untracked() == wish.topics => {
                        desk.fault.set(None);
                        desk.series.set(series);
                        done = Some(wish);
                    }
                    Ok(_) => {}
                    Err(fault) => {
                        desk.fault.set(Some(fault));
                        // Not again until something moves: the live clock, or the person.
                        done = Some(wish);
                    }
                }
            }
            host.wait(LOOK).await;
        }
    });
}

async fn all(api: &Api, wish: &Wish, units: &mut HashMap<String, String>) -> Result<Vec<Series>> {
    let mut all = Vec::new();
    for path in &wish.topics {
        let unit = match units.get(path) {
            Some(unit) => unit.clone(),
            None => {
                let address = ["workspaces", WORKSPACE, "tag"];
                let tag: v1::Tag = api.get(&address, &[("path", path)]).await?;
                units.insert(path.clone(), tag.unit.clone());
                tag.unit
            }
        };
        all.push(one(api, path, &unit, wish.window).await?);
    }
    Ok(all)
}

async fn one(api: &Api, path: &str, unit: &str, window: Window) -> Result<Series> {
    let (from, to) = (timestamp(window.from).to_rfc3339(), timestamp(window.to).to_rfc3339());
    let points = POINTS.to_string();
    let mut query = vec![("path", path), ("from", &from), ("to", &to), ("points", &points)];
    let range: v1::Range = api.get(&["workspaces", WORKSPACE, "range"], &query).await?;
    let count: u64 = range.buckets.iter().map(|bucket| bucket.count).sum();
    if count > RAW_MAX {
        return Ok(Series::of_range(path, unit, &range, window));
    }
    query.pop();
    let limit = RAW_MAX.to_string();
    query.push(("limit", &limit));
    let page: v1::SamplePage = api.get(&["workspaces", WORKSPACE, "raw"], &query).await?;
    Ok(match page.next {
        // More have come meanwhile.
        Some(_) => Series::of_range(path, unit, &range, window),
        None => Series::of_samples(path, unit, &page),
    })
}
