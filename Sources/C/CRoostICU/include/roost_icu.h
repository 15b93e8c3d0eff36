// The data of ICU that the program is linked with; see data.S. Nothing is declared here.
