#include <microhttpd.h>

// Swift cannot call MHD_start_daemon, which has variable arguments.
static inline struct MHD_Daemon *roost_http_start(
    const struct sockaddr *address, void *context, void *(*arrived)(void *, const char *, struct MHD_Connection *),
    MHD_AccessHandlerCallback handler, MHD_RequestCompletedCallback completed,
    size_t (*unescape)(void *, struct MHD_Connection *, char *), unsigned int idle_seconds,
    unsigned int connection_limit) {
    return MHD_start_daemon(
        MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_THREAD_PER_CONNECTION, 0, NULL, NULL, handler, context,
        MHD_OPTION_SOCK_ADDR, address, MHD_OPTION_URI_LOG_CALLBACK, arrived, context,
        MHD_OPTION_NOTIFY_COMPLETED, completed, context, MHD_OPTION_UNESCAPE_CALLBACK, unescape, NULL,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)(256 << 10), MHD_OPTION_CONNECTION_TIMEOUT, idle_seconds, MHD_OPTION_CONNECTION_LIMIT, connection_limit, MHD_OPTION_END);
}

// Returns 0 if the port is unknown.
static inline unsigned short roost_http_port(struct MHD_Daemon *daemon) {
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_BIND_PORT);
    return info == NULL ? 0 : info->port;
}

// Returns -1 if the socket is unknown.
static inline int roost_http_socket(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    return info == NULL ? -1 : (int)info->connect_fd;
}
