// The address with the token is replaced, so that it is not in the history. If a file or another
// program opened the address, the request is cross-site. A redirect by the server would be
// cross-site too, so the browser would not send the new cookie.
location.replace("/");
