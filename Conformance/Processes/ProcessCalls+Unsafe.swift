internal import Foundation
internal import RoostCore
internal import RoostSystem

/// System calls that limit or kill a peer process.
enum ProcessCalls {
    #if canImport(Glibc)
        private static let fileSize = __rlimit_resource_t(RLIMIT_FSIZE.rawValue)
        private static let openFiles = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    #else
        private static let fileSize = RLIMIT_FSIZE
        private static let openFiles = RLIMIT_NOFILE
    #endif

    /// Makes every write fail that would extend a file beyond this size, as a quota does.
    static func limitFileSize(to bytes: Int64) throws {
        // By default, SIGXFSZ would end the process.
        signal(SIGXFSZ, SIG_IGN)
        var limit = rlimit(rlim_cur: rlim_t(bytes), rlim_max: rlim_t(bytes))
        try check(setrlimit(fileSize, &limit), call: "setrlimit(RLIMIT_FSIZE)")
    }

    /// Makes every later attempt to open a file fail, as in a process with too many open files.
    static func forbidOpeningFiles() throws {
        var limit = rlimit(rlim_cur: 0, rlim_max: 0)
        try check(setrlimit(openFiles, &limit), call: "setrlimit(RLIMIT_NOFILE)")
    }

    /// Switches to a user without rights if the process runs as root.
    static func dropPrivileges() throws {
        guard geteuid() == 0 else { return }
        let nobody: uid_t = 65534
        try check(setgid(gid_t(nobody)), call: "setgid")
        try check(setuid(nobody), call: "setuid")
    }

    static func kill(_ process: pid_t) throws {
        let status = SystemCalls.kill(process)
        // The process may have just ended.
        if status != 0, errno == ESRCH { return }
        try check(status, call: "kill")
    }

    private static func check(_ status: Int32, call: String) throws {
        guard status == 0 else {
            throw Mismatch(expected: "\(call) succeeds", actual: String(cString: strerror(errno)))
        }
    }
}
