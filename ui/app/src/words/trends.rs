//! Trends.

super::messages! {
    TITLE: "Trends", "Verläufe";
    ADD: "Add a topic: part of its path, unit or description", "Topic dazu: Teil von Pfad, Einheit oder Beschreibung";
    NO_HITS: "No topic has this text.", "Kein Topic hat diesen Text.";
    FULL: "A chart has {n} lines at most; remove one first.", "Ein Diagramm hat höchstens {n} Linien; entferne zuerst eine.";
    NONE: "No topic is in the chart", "Kein Topic ist im Diagramm";
    NONE_NEXT: "Search for one above, or choose \"Show its trend\" in the namespace.", "Suche oben eines, oder wähle „Verlauf zeigen“ im Namensraum.";
    NOT_LOADED: "Not loaded", "Nicht geladen";
    INCOMPLETE: "Incomplete", "Unvollständig";
    INCOMPLETE_TEXT: "A damaged or missing part of the history may have held more: see the issues on the overview.", "Ein beschädigter oder fehlender Teil der Historie enthielt vielleicht mehr: siehe Störungen im Überblick.";
    SPAN: "Length of the window", "Länge des Fensters";
    MINUTE_1: "1 minute", "1 Minute";
    MINUTES_5: "5 minutes", "5 Minuten";
    MINUTES_15: "15 minutes", "15 Minuten";
    HOUR_1: "1 hour", "1 Stunde";
    HOURS_8: "8 hours", "8 Stunden";
    DAY_1: "1 day", "1 Tag";
    DAYS_7: "7 days", "7 Tage";
    DAYS_30: "30 days", "30 Tage";
    OTHER_SPAN: "as zoomed", "wie gezoomt";
    EARLIER: "Earlier", "Früher";
    LATER: "Later", "Später";
    NEARER: "Zoom in", "Hineinzoomen";
    FARTHER: "Zoom out", "Herauszoomen";
    EXPORT: "Export CSV", "CSV exportieren";
    NOTHING_TO_EXPORT: "There is nothing in the window.", "Im Fenster ist nichts.";
    CHART: "Chart over time", "Zeitdiagramm";
    KEYS: "Left and right move the cursor, with Shift the window; plus and minus zoom, Home goes back to now, Escape takes the cursor away. The table below has the values.", "Links und rechts bewegen den Cursor, mit Umschalt das Fenster; Plus und Minus zoomen, Pos1 geht zu jetzt zurück, Escape nimmt den Cursor weg. Die Tabelle darunter hat die Werte.";
    LEGEND: "Lines, values and statistics of the window", "Linien, Werte und Statistik des Fensters";
    TOPIC: "Topic", "Topic";
    LAST: "Last", "Zuletzt";
    LEAST: "Minimum", "Minimum";
    MEAN: "Mean", "Mittel";
    MOST: "Maximum", "Maximum";
    COUNT: "Samples", "Werte";
    REMOVE: "Remove", "Entfernen";
    VIEWS: "Saved views", "Gespeicherte Ansichten";
    NO_VIEW: "Saved views …", "Gespeicherte Ansichten …";
    KEEP_VIEW: "Save the view", "Ansicht speichern";
    KEEP_TEXT: "The topics and the length of the window are kept on the appliance, for you alone. A view of the same name is replaced.", "Die Topics und die Länge des Fensters bleiben auf dem Gerät, nur für dich. Eine Ansicht gleichen Namens wird ersetzt.";
    KEPT: "{name} is saved.", "{name} ist gespeichert.";
    FORGET_VIEW: "Forget the view", "Ansicht vergessen";
    CHOOSE_VIEW: "Choose a view first.", "Wähle zuerst eine Ansicht.";
    NOTHING_TO_KEEP: "Put a topic into the chart first.", "Nimm zuerst ein Topic ins Diagramm.";
}
