// The address with the token is replaced, so that it is not in the history. If a file or another
// program opened the address, the request comes from another site. After a redirect by the server,
// the browser would not send the new cookie.
location.replace("/");
