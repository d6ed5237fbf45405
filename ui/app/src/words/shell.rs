//! The frame: navigation, title bar, keys.

super::messages! {
    PRODUCT: "Millrace", "Millrace";
    SKIP_TO_PAGE: "Skip to the page", "Zur Seite springen";
    NAVIGATION: "Pages", "Seiten";
    OVERVIEW: "Overview", "Überblick";
    NAMESPACE: "Namespace", "Namensraum";
    TRENDS: "Trends", "Verläufe";
    PIPELINES: "Pipelines", "Pipelines";
    ACCESS: "Access", "Zugang";
    SETTINGS: "Settings", "Einstellungen";
    SIZING: "Sizing", "Auslegung";
    SIGN_OUT: "Sign out", "Abmelden";
    TO_DARK: "Dark", "Dunkel";
    TO_LIGHT: "Light", "Hell";
    LANGUAGE: "Language", "Sprache";
    ENGLISH: "English", "English";
    GERMAN: "Deutsch", "Deutsch";
    LIVE: "Live", "Live";
    LIVE_IDLE: "Connected", "Verbunden";
    LIVE_CONNECTING: "Connecting", "Verbinde";
    LIVE_LOST: "No connection since {time}; what you see is old. Trying again.", "Keine Verbindung seit {time}; was du siehst, ist alt. Es wird wieder versucht.";
    CLOCK_DIFFERS: "This machine's clock differs from the appliance's by {time}.", "Die Uhr dieses Rechners weicht um {time} von der des Geräts ab.";
    NOT_BUILT: "This page is not built yet", "Diese Seite ist noch nicht gebaut";
    NOT_BUILT_NEXT: "What it will show can be asked for on the command line: {command}", "Was sie zeigen wird, beantwortet die Befehlszeile: {command}";
    NOT_FOUND: "There is no such page", "Diese Seite gibt es nicht";
    NOT_FOUND_NEXT: "Choose a page on the left, or go to the overview.", "Wähle links eine Seite oder gehe zum Überblick.";
    PAGE_FAILED: "This page failed", "Diese Seite ist gescheitert";
    KEYS: "Keys", "Tasten";
    KEY_HELP: "Show the keys", "Tasten zeigen";
    KEY_PALETTE: "Find a page or a command", "Seite oder Befehl suchen";
    KEY_THEME: "Light or dark", "Hell oder dunkel";
    PALETTE_NOTHING: "Nothing has that name.", "Nichts heißt so.";
    CLOSE: "Close", "Schließen";
    CANCEL: "Cancel", "Abbrechen";
    VIEWER: "Viewer", "Betrachter";
    ENGINEER: "Engineer", "Ingenieur";
    ADMIN: "Admin", "Verwalter";
}
