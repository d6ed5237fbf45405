//! Choosing an appliance in the desktop program, and trusting it.

super::messages! {
    TITLE: "Appliances", "Geräte";
    EMPTY: "No appliance yet", "Noch kein Gerät";
    EMPTY_NEXT: "Add one by its address, or search the network.", "Füge eines mit seiner Adresse hinzu oder suche im Netz.";
    OPEN: "Open", "Öffnen";
    FORGET: "Forget {name}", "{name} vergessen";
    ADD: "Add an appliance", "Gerät hinzufügen";
    NAME: "Name", "Name";
    NAME_HELP: "What you call it.", "Wie du es nennst.";
    ADDRESS: "Address", "Adresse";
    ADDRESS_HELP: "As the appliance prints it at its start: https://box:8443", "Wie das Gerät sie beim Start ausgibt: https://box:8443";
    SUBMIT: "Add", "Hinzufügen";
    SEARCH: "Search the network", "Im Netz suchen";
    SEARCHING: "Searching for five seconds", "Suche fünf Sekunden lang";
    FOUND_NONE: "Nothing answered. An appliance announces itself only where that is switched on.", "Nichts hat geantwortet. Ein Gerät meldet sich nur, wo das eingeschaltet ist.";
    SAYS: "It says its certificate has the fingerprint", "Es sagt, sein Zertifikat habe den Fingerabdruck";
    TAKE: "Take this address", "Diese Adresse nehmen";
    CONNECTING: "Connecting to {name}", "Verbinde mit {name}";
    BACK: "Back to the list", "Zurück zur Liste";
    UNREACHABLE: "{name} cannot be reached", "{name} ist nicht erreichbar";
    UNREACHABLE_NEXT: "It is tried again by itself.", "Es wird von selbst wieder versucht.";
    FIRST: "Is this {name}?", "Ist das {name}?";
    FIRST_TEXT: "Nothing was sent yet. Compare this fingerprint with the one that the appliance prints at its start (line TLS).", "Noch wurde nichts gesendet. Vergleiche diesen Fingerabdruck mit dem, den das Gerät beim Start ausgibt (Zeile TLS).";
    FINGERPRINT: "SHA-256 of its certificate", "SHA-256 seines Zertifikats";
    ACCEPT: "It is the same: accept this certificate", "Er ist gleich: dieses Zertifikat annehmen";
    CHANGED: "{name} shows another certificate than before", "{name} zeigt ein anderes Zertifikat als bisher";
    CHANGED_TEXT: "Either it was replaced on the appliance, or somebody is in between. Nothing was sent. Ask whoever runs the appliance before you go on.", "Entweder wurde es am Gerät ersetzt, oder jemand steht dazwischen. Es wurde nichts gesendet. Frage, wer das Gerät betreibt, bevor du weitermachst.";
    BEFORE: "Accepted before", "Bisher angenommen";
    NOW: "Shown now", "Jetzt gezeigt";
    REPLACE: "I asked: accept the new certificate of {name}", "Ich habe gefragt: das neue Zertifikat von {name} annehmen";
}
