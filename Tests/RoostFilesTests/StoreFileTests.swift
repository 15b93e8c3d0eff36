import Foundation
import RoostCore
import RoostFiles
import RoostSystem
import Testing

#if canImport(Glibc)
    // Only Linux has these functions, and no Swift module of the C library declares them.
    @_silgen_name("setfsuid") private func setfsuid(_ user: UInt32) -> Int32
    @_silgen_name("setfsgid") private func setfsgid(_ group: UInt32) -> Int32
#endif

/// Runs `body` with the file access of a user without rights, if the tests run as the superuser on
/// Linux.
func asNobody<Result>(_ body: () throws -> Result) rethrows -> Result {
    #if canImport(Glibc)
        // The file-system user belongs to the thread, and `body` stays on this thread.
        let user = setfsuid(65534)
        let group = setfsgid(65534)
        defer {
            _ = setfsgid(UInt32(bitPattern: group))
            _ = setfsuid(UInt32(bitPattern: user))
        }
    #endif
    return try body()
}

func code(_ body: () throws -> Void) -> StoreError.Code? {
    do { try body() } catch let error as StoreError { return error.code } catch { return nil }
    return nil
}

@Suite("Store files")
struct StoreFileTests {
    let directory = Result { try TemporaryDirectory() }

    @Test(
        "a path splits into its directory and its name",
        arguments: [
            ("store", ".", "store"), ("/store", "/", "store"), ("a/b/store", "a/b", "store"), ("/a/ö", "/a", "ö"),
            ("a/", "a", ""),
        ])
    func splitsPath(path: String, directory: String, name: String) {
        #expect(StoreFile.directory(of: path) == directory)
        #expect(StoreFile.name(of: path) == name)
    }

    @Test("a regular file and a symbolic link to it may be opened")
    func acceptsRegularFile() throws {
        let directory = try directory.get()
        let file = try directory.write("store")
        #expect(symlink(file, directory.file("link")) == 0)
        try StoreFile.requireRegularFile(at: file, forWriting: true)
        try StoreFile.requireRegularFile(at: directory.file("link"), forWriting: true)
        #expect(StoreFile.sameFile(file, directory.file("link")))
        #expect(try FileIdentity(at: file) == FileIdentity(at: directory.file("link")))
        #expect(try StoreFile.byteCount(at: file) == 7)
    }

    @Test(
        "a path without a regular file is refused with the right code and not read",
        arguments: [
            ("absent", .notFound), ("no/store", .missingDirectory), ("store/x", .missingDirectory),
            ("folder", .notAStore), ("pipe", .notAStore), ("/dev/null", .notAStore), ("dangling", .notFound),
            ("circle", .notAStore), ("", .invalidRequest), ("store\0x", .invalidRequest),
        ] as [(String, StoreError.Code)])
    func refusesOtherKinds(name: String, expected: StoreError.Code) throws {
        let directory = try directory.get()
        #expect(mkdir(directory.file("folder"), 0o700) == 0)
        #expect(mkfifo(directory.file("pipe"), 0o600) == 0)
        #expect(symlink(directory.file("nowhere"), directory.file("dangling")) == 0)
        #expect(symlink(directory.file("circle"), directory.file("circle")) == 0)
        _ = try directory.write("store")
        let path = name.isEmpty || name.hasPrefix("/") ? name : directory.file(name)
        #expect(code { try StoreFile.requireRegularFile(at: path, forWriting: false) } == expected)
        #expect(StoreFile.read(prefix: 4, of: path) == nil)
    }

    @Test("reading a prefix of a shorter file returns the whole file")
    func readsPrefix() throws {
        let file = try directory.get().write("store", content: "abc")
        #expect(StoreFile.read(prefix: 2, of: file) == Array("ab".utf8))
        #expect(StoreFile.read(prefix: 100, of: file) == Array("abc".utf8))
        #expect(StoreFile.read(prefix: -1, of: file) == nil)
    }

    @Test("a user without access to a file gets permissionDenied and changes nothing", .enabled(if: geteuid() == 0))
    func deniesWithoutAccess() throws {
        let directory = try directory.get()
        let file = try directory.write("store")
        #expect(chmod(file, 0o644) == 0)
        asNobody {
            #expect(code { try StoreFile.requireRegularFile(at: file, forWriting: false) } == nil)
            #expect(code { try StoreFile.requireRegularFile(at: file, forWriting: true) } == .permissionDenied)
            #expect(code { try StoreFile.requireAbsent(at: directory.file("new")) } == .permissionDenied)
            #expect(code { try StoreFile.createExclusive(at: directory.file("new")) } == .permissionDenied)
            #expect(code { try StoreFile.remove(file) } == .permissionDenied)
        }
        #expect(chmod(file, 0o600) == 0)
        asNobody {
            #expect(code { try StoreFile.requireRegularFile(at: file, forWriting: false) } == .permissionDenied)
            #expect(StoreFile.read(prefix: 1, of: file) == nil)
        }
        #expect(try directory.names == ["store"])
    }

    @Test("a path of a directory or dangling link is not free for a new store")
    func requiresAbsence() throws {
        let directory = try directory.get()
        try StoreFile.requireAbsent(at: directory.file("new"))
        #expect(symlink(directory.file("nowhere"), directory.file("dangling")) == 0)
        #expect(code { try StoreFile.requireAbsent(at: directory.file("dangling")) } == .alreadyExists)
        #expect(code { try StoreFile.requireAbsent(at: directory.path) } == .alreadyExists)
        #expect(code { try StoreFile.requireAbsent(at: directory.file("no/new")) } == .missingDirectory)
    }

    @Test("a created file has mode 600 and replaces neither a file nor a link")
    func createsExclusively() throws {
        let directory = try directory.get()
        try StoreFile.createExclusive(at: directory.file("new"))
        let permissions =
            try FileManager.default.attributesOfItem(atPath: directory.file("new"))[.posixPermissions] as? Int
        #expect(permissions == 0o600)
        #expect(code { try StoreFile.createExclusive(at: directory.file("new")) } == .alreadyExists)
        #expect(symlink(directory.file("victim"), directory.file("planted")) == 0)
        #expect(code { try StoreFile.createExclusive(at: directory.file("planted")) } == .alreadyExists)
        #expect(try !directory.names.contains("victim"))
    }

    @Test("files and locks are refused in a world-writable directory without the sticky bit")
    func refusesWorldWritableDirectory() throws {
        let directory = try directory.get()
        #expect(chmod(directory.path, 0o777) == 0)
        #expect(code { try StoreFile.createExclusive(at: directory.file("new")) } == .permissionDenied)
        #expect(
            code { _ = try StoreLock.acquire(forStoreAt: directory.file("new"), mode: .shared, timeoutSeconds: 0) }
                == .permissionDenied)
        #expect(try directory.names.isEmpty)
        #expect(chmod(directory.path, 0o1777) == 0)
        try StoreFile.createExclusive(at: directory.file("new"))
    }

    @Test("publishing replaces a file only when overwriting, and keeps its permissions")
    func publishesOverwriting() throws {
        let directory = try directory.get()
        let old = try directory.write("store", content: "old")
        #expect(chmod(old, 0o640) == 0)
        let temporary = StoreFile.temporarySibling(of: old)
        let lock = try StoreLock.acquire(forStoreAt: temporary, mode: .exclusive, timeoutSeconds: 0)
        try StoreFile.createExclusive(at: temporary)
        try Data("new".utf8).write(to: URL(fileURLWithPath: temporary))
        try StoreFile.syncFile(at: temporary)
        #expect(code { try StoreFile.publish(temporary, as: old, overwriting: false) } == .alreadyExists)
        #expect(try directory.content("store") == "old")
        try StoreFile.publish(temporary, as: old, overwriting: true)
        lock.release()
        #expect(try directory.content("store") == "new")
        #expect(try FileManager.default.attributesOfItem(atPath: old)[.posixPermissions] as? Int == 0o640)
        #expect(try directory.names == ["store"])
        try StoreFile.publish(old, as: directory.file("moved"), overwriting: false)
        #expect(try directory.names == ["moved"])
    }

    @Test("publishing succeeds if the lock file of the temporary file cannot be removed", arguments: [true, false])
    func publishesWithRemainingLock(overwriting: Bool) throws {
        let directory = try directory.get()
        let store = directory.file("store")
        let temporary = StoreFile.temporarySibling(of: store)
        _ = try directory.write(StoreFile.name(of: temporary), content: "new")
        // A directory cannot be removed like a file.
        try FileManager.default.createDirectory(atPath: temporary + ".lock", withIntermediateDirectories: false)
        try StoreFile.publish(temporary, as: store, overwriting: overwriting)
        #expect(try directory.content("store") == "new")
    }

    @Test("publishing through a symbolic link replaces its target and keeps the link")
    func publishingThroughLink() throws {
        let directory = try directory.get()
        let elsewhere = try TemporaryDirectory()
        let target = try elsewhere.write("store", content: "old")
        let link = directory.file("link")
        #expect(symlink(target, link) == 0)
        let temporary = StoreFile.temporarySibling(of: link)
        #expect(StoreFile.directory(of: temporary) == StoreFile.directory(of: StoreFile.resolvingLink(link)))
        try StoreFile.createExclusive(at: temporary)
        try StoreFile.publish(temporary, as: link, overwriting: true)
        #expect(try elsewhere.content("store").isEmpty)
        #expect(StoreFile.sameFile(link, target))
    }

    @Test("publishing over a pipe or a directory is refused, and so is a missing source")
    func publishingOverOthers() throws {
        let directory = try directory.get()
        let new = try directory.write("new")
        #expect(mkfifo(directory.file("pipe"), 0o600) == 0)
        #expect(code { try StoreFile.publish(new, as: directory.file("pipe"), overwriting: true) } == .notAStore)
        #expect(code { try StoreFile.publish(new, as: directory.path, overwriting: true) } == .notAStore)
        #expect(
            code { try StoreFile.publish(directory.file("absent"), as: directory.file("x"), overwriting: true) }
                == .notFound)
        #expect(
            code { try StoreFile.publish(directory.file("absent"), as: directory.file("x"), overwriting: false) }
                == .notFound)
        #expect(
            code { try StoreFile.publish(new, as: directory.file("no/x"), overwriting: false) } == .missingDirectory)
        #expect(try directory.names == ["new", "pipe"])
    }

    @Test("sweeping removes only abandoned temporary files and their companions")
    func sweepsAbandonedFiles() throws {
        let directory = try directory.get()
        let store = try directory.write("store")
        let abandoned = StoreFile.temporarySibling(of: store)
        for suffix in ["", "-wal", "-journal", "-lock", ".lock"] {
            // Only an empty file counts as a lock file.
            _ = try directory.write(StoreFile.name(of: abandoned) + suffix, content: suffix == ".lock" ? "" : "content")
        }
        let halfGone = StoreFile.name(of: StoreFile.temporarySibling(of: store)) + "-shm"
        _ = try directory.write(halfGone)
        // A process killed while creating a spill file can leave the file.
        _ = try directory.write(".roost-spill.12ab.roost-tmp")
        let live = StoreFile.temporarySibling(of: store)
        let lock = try StoreLock.acquire(forStoreAt: live, mode: .exclusive, timeoutSeconds: 0)
        try StoreFile.createExclusive(at: live)
        let others = [
            ".store.roost-tmp", ".store.0123.roost-tmp", ".other.0123456789abcdef.roost-tmp",
            ".store.0123456789abcdef.roost-tmp.mine", ".store.0123456789abcdef.roost-tmp-log",
            ".roost-spill..roost-tmp", ".roost-spill.mine.roost-tmp",
        ]
        for name in others { _ = try directory.write(name) }
        let companions = ["-wal", "-shm", "-journal", "-lock"]
        StoreFile.sweepTemporarySiblings(of: store, companions: companions)
        let liveName = StoreFile.name(of: live)
        #expect(try directory.names == (others + ["store", liveName, liveName + ".lock"]).sorted())
        lock.release()
        StoreFile.sweepTemporarySiblings(of: store, companions: companions)
        #expect(try directory.names == (others + ["store"]).sorted())
    }

    @Test("only the holder of a store's claim sweeps the store's temporary files")
    func sweepsUnderClaim() throws {
        let directory = try directory.get()
        let store = directory.file("store")
        let temporary = StoreFile.temporarySibling(of: store)
        let claim = try DestinationClaim.acquire(forStoreAt: store)
        try StoreFile.createExclusive(at: temporary)
        #expect(code { _ = try DestinationClaim.acquire(forStoreAt: store) } == .busy)
        StoreFile.sweepTemporarySiblings(of: store)
        #expect(try directory.names == [StoreFile.name(of: temporary), "store.lock"])
        StoreFile.sweepTemporarySiblings(of: store, companions: [], holding: claim)
        #expect(try directory.names == ["store.lock"])
        claim.release()
        #expect(try directory.names == [])
    }

    @Test("releasing a claim keeps the lock file of an existing or locked store")
    func keepsLockFileAfterClaim() throws {
        let directory = try directory.get()
        let store = directory.file("store")
        var claim = try DestinationClaim.acquire(forStoreAt: store)
        let lock = try StoreLock.acquire(forStoreAt: store, mode: .exclusive, timeoutSeconds: 0)
        claim.release()
        claim.release()
        #expect(try directory.names == ["store.lock"])
        lock.release()
        _ = try directory.write("store")
        claim = try DestinationClaim.acquire(forStoreAt: store)
        claim.release()
        #expect(try directory.names == ["store", "store.lock"])
    }

    @Test("removing a missing file succeeds, and removing a directory fails")
    func removesFile() throws {
        let directory = try directory.get()
        try StoreFile.remove(directory.file("absent"))
        #expect(code { try StoreFile.remove(directory.path) } != nil)
    }

    @Test("flushing a missing file throws notFound, and flushing a missing directory throws missingDirectory")
    func flushesFile() throws {
        let directory = try directory.get()
        #expect(code { try StoreFile.syncFile(at: directory.file("absent")) } == .notFound)
        try StoreFile.syncDirectory(of: directory.file("absent"))
        #expect(code { try StoreFile.syncDirectory(of: directory.file("no/absent")) } == .missingDirectory)
    }

    @Test("the temporary directory has free space and is not on a network")
    func measuresFreeSpace() throws {
        let directory = try directory.get()
        #expect(try StoreFile.freeBytes(inDirectoryOf: directory.file("store")) > 0)
        try StoreFile.refuseNetworkFileSystem(at: directory.file("not there yet"))
        #expect(code { _ = try StoreFile.freeBytes(inDirectoryOf: directory.file("no/store")) } == .missingDirectory)
    }

    @Test(
        "each system error maps to its store error code",
        arguments: [
            (EACCES, StoreError.Code.permissionDenied), (EPERM, .permissionDenied), (EROFS, .readOnly),
            (ENOSPC, .noSpace),
            (EDQUOT, .noSpace), (EFBIG, .noSpace), (EMFILE, .outOfResources), (ENFILE, .outOfResources),
            (ENOMEM, .outOfResources),
            (ENOBUFS, .outOfResources), (ENOLCK, .outOfResources), (ENOENT, .notFound), (ENOTDIR, .missingDirectory),
            (EEXIST, .alreadyExists),
            (ENOTEMPTY, .alreadyExists), (EISDIR, .notAStore), (ENXIO, .notAStore), (ENODEV, .notAStore),
            (ELOOP, .notAStore),
            (EAGAIN, .busy), (EBUSY, .busy), (ETXTBSY, .busy), (ETIMEDOUT, .timedOut), (ENAMETOOLONG, .invalidRequest),
            (EINVAL, .invalidRequest), (EXDEV, .invalidRequest), (ENOSYS, .unsupported), (ENOTSUP, .unsupported),
            (EIO, .ioFailure),
            (ESTALE, .ioFailure),
        ])
    func mapsSystemError(errno: Int32, expected: StoreError.Code) {
        let error = StoreFile.error(errno: errno, what: "cannot be opened", path: "/store")
        #expect(error.code == expected)
        #expect(error.underlying as? SystemError == SystemError(code: errno))
        #expect(error.message.hasPrefix("'/store' cannot be opened: "))
        #expect(
            StoreFile.error(errno: ENOENT, what: "cannot be opened", path: "/no such directory/store").code
                == .missingDirectory)
    }
}
