//! Signing in.

super::messages! {
    TITLE: "Sign in", "Anmelden";
    NAME: "Name", "Name";
    NAME_HELP: "As an admin of this appliance gave it to you.", "Wie ihn dir ein Verwalter dieses Geräts gegeben hat.";
    PASSWORD: "Password", "Passwort";
    SUBMIT: "Sign in", "Anmelden";
    WORKING: "Signing in", "Anmeldung läuft";
    EXPIRED: "Your session has ended", "Deine Sitzung ist zu Ende";
    EXPIRED_TEXT: "It expired or was revoked. Sign in again; you come back to where you were.", "Sie ist abgelaufen oder wurde widerrufen. Melde dich wieder an; du kommst dorthin zurück, wo du warst.";
    EMPTY: "Both are needed.", "Beides wird gebraucht.";
}
