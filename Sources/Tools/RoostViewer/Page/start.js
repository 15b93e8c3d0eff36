// The address with the token is replaced, so that it is not in the history. A redirect by the
// server would not have the new cookie where a file or another program opened the address: such a
// request comes from another site.
location.replace("/");
