//! Units and ages.

super::messages! {
    SECONDS_AGO: "{n} s ago", "vor {n} s";
    MINUTES_AGO: "{n} min ago", "vor {n} min";
    HOURS_AGO: "{n} h ago", "vor {n} h";
    DAYS_AGO: "{n} d ago", "vor {n} d";
    PER_SECOND: "/s", "/s";
    BAD: "Bad", "Schlecht";
    UNCERTAIN: "Uncertain", "Unsicher";
}
