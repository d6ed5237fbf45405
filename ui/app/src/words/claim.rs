//! Claiming a new appliance.

super::messages! {
    TITLE: "Claim this appliance", "Dieses Gerät übernehmen";
    INTRODUCTION: "Nobody owns this appliance yet. With its claim code you create the first admin.", "Dieses Gerät gehört noch niemandem. Mit seinem Übernahmecode legst du den ersten Verwalter an.";
    CODE: "Claim code", "Übernahmecode";
    CODE_HELP: "The appliance shows it at its start, and in its log.", "Das Gerät zeigt ihn beim Start und in seinem Protokoll.";
    NAME: "Your name", "Dein Name";
    NAME_HELP: "You sign in with it from now on.", "Damit meldest du dich von nun an an.";
    PASSWORD: "New password", "Neues Passwort";
    PASSWORD_HELP: "At least 10 characters.", "Mindestens 10 Zeichen.";
    AGAIN: "The password again", "Das Passwort noch einmal";
    DIFFERENT: "The two passwords differ.", "Die beiden Passwörter sind verschieden.";
    SHORT: "It has fewer than 10 characters.", "Es hat weniger als 10 Zeichen.";
    SUBMIT: "Claim", "Übernehmen";
    WORKING: "Claiming", "Übernahme läuft";
    CLOSED: "This appliance is claimed already", "Dieses Gerät ist schon übernommen";
    CLOSED_TEXT: "Sign in with a name that an admin gave you.", "Melde dich mit einem Namen an, den dir ein Verwalter gegeben hat.";
}
