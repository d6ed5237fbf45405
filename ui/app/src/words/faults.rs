//! What went wrong with a request.

super::messages! {
    TITLE: "That did not work", "Das hat nicht geklappt";
    NO_CONNECTION: "The appliance cannot be reached. It is tried again by itself.", "Das Gerät ist nicht erreichbar. Es wird von selbst wieder versucht.";
    TIMED_OUT: "The appliance did not answer in time.", "Das Gerät hat nicht rechtzeitig geantwortet.";
    TOO_LARGE: "The answer is too large to be shown.", "Die Antwort ist zu groß, um gezeigt zu werden.";
    FOREIGN: "What answered (HTTP {status}) is no Millrace appliance of this version. Load the page again.", "Was geantwortet hat (HTTP {status}), ist kein Millrace-Gerät dieser Version. Bitte die Seite neu laden.";
    UNSENT: "The request could not be written.", "Die Anfrage konnte nicht geschrieben werden.";
    FORBIDDEN: "You may not do this: {why}", "Das ist dir nicht erlaubt: {why}";
    TRY_AGAIN: "Try again", "Noch einmal versuchen";
}
