//! What pipeline steps do outside the box: HTTP, SQL, MQTT, mail, files.
