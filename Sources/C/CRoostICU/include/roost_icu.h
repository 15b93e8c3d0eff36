// Empty; data.S has the data of ICU.
