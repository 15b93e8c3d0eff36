package import RoostCore
internal import RoostSystem

/// The file-system operations that every store uses.
///
/// Apart from libraries such as SQLite, only this module renames or flushes store files. Unless
/// stated otherwise, a path may be a symbolic link to a regular file. Operations then apply to the
/// link's target, and the lock file and temporary files are beside the target. These functions try
/// a lock only once, and do not wait for other processes.
public enum StoreFile {
    /// Returns the directory part of a path, or `"."` for a path without slashes.
    package static func directory(of path: String) -> String {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
        let directory = path[..<slash]
        return directory.isEmpty ? "/" : String(directory)
    }

    /// Returns the last component of a path.
    package static func name(of path: String) -> String {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return path }
        return String(path[path.utf8.index(after: slash)...])
    }

    /// Returns a new random path `.<name>.<random>.roost-tmp` in the directory of `path`.
    ///
    /// Build a file at the new path, and then publish it at `path`. Lock the new path with
    /// ``StoreLock`` before creating the file, because ``sweepTemporarySiblings(of:companions:)``
    /// removes temporary files that are not locked.
    public static func temporarySibling(of path: String) -> String {
        let target = resolvingLink(path)
        let random = UInt64.random(in: .min ... .max).hexadecimal
        return "\(directory(of: target))/\(temporaryPrefix(for: target))\(random)\(temporarySuffix)"
    }

    /// Returns a new random location for a store that is built there and then published at
    /// `location`.
    ///
    /// - Throws: `invalidRequest` if the type cannot parse the location.
    package static func temporaryLocation(
        beside location: StoreLocation, of type: any PersistentStoreType
    ) throws(StoreError) -> StoreLocation {
        if let server = type as? any ServerStoreType { return try server.temporaryLocation(beside: location) }
        return StoreLocation(type: location.type, path: temporarySibling(of: location.path))
    }

    /// Returns the common prefix of the names of all temporary siblings of `path`.
    ///
    /// If `path` is a temporary file itself, the prefix is the same as for the final file. So a
    /// sweep for the final file also finds siblings of its temporary files.
    static func temporaryPrefix(for path: String) -> String {
        let name = name(of: path)
        guard name.hasPrefix("."), name.hasSuffix(temporarySuffix) else { return ".\(name)." }
        let prefix = name.dropLast(temporarySuffix.count).dropLast(16)
        let random = name.dropFirst(prefix.count).dropLast(temporarySuffix.count)
        guard prefix.count > 2, prefix.hasSuffix("."), random.utf8.count == 16, random.allSatisfy(\.isHexDigit) else {
            return ".\(name)."
        }
        return String(prefix)
    }

    static let temporarySuffix = ".roost-tmp"

    /// Returns a new path `<name>.backup-<uuid>` beside `path` for a store that is being replaced.
    package static func backupSibling(of path: String) -> String {
        resolvingLink(path) + backupInfix + "\(StoreUUID())"
    }

    private static let backupInfix = ".backup-"

    /// Whether the directory entry `name` has the form of a backup of `path`.
    static func isBackup(_ name: String, of path: String) -> Bool {
        let prefix = self.name(of: path) + backupInfix
        return name.hasPrefix(prefix) && StoreUUID(String(name.dropFirst(prefix.count))) != nil
    }

    /// Returns the path of the original store if `path` has the form of a backup.
    static func original(ofBackup path: String) -> String? {
        let uuid = path.suffix(36)
        let rest = path.dropLast(36)
        guard StoreUUID(String(uuid)) != nil, rest.hasSuffix(backupInfix) else { return nil }
        return String(rest.dropLast(backupInfix.count))
    }

    /// The suffixes of lock files.
    ///
    /// On systems that cannot lock bytes separately, each lock has its own file.
    static let lockSuffixes = [StoreLock.suffix, ".writer.lock", ".sound.lock", ".claim.lock"]

    /// Returns the name of the temporary sibling of `path` to which a directory entry belongs, or
    /// nil.
    ///
    /// The entry is the sibling's name, or that name with a suffix from ``lockSuffixes`` or
    /// `companions`.
    static func temporarySibling(named entry: String, of path: String, companions: [String] = []) -> String? {
        let prefix = temporaryPrefix(for: path)
        guard entry.hasPrefix(prefix) else { return nil }
        let rest = entry.dropFirst(prefix.count)
        let random = rest.prefix(16)
        guard random.utf8.count == 16,
            random.utf8.allSatisfy({ byte in
                (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                    || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte)
            }),
            rest.dropFirst(16).hasPrefix(temporarySuffix)
        else { return nil }
        let suffix = String(rest.dropFirst(16).dropFirst(temporarySuffix.count))
        guard suffix.isEmpty || lockSuffixes.contains(suffix) || companions.contains(suffix) else { return nil }
        return prefix + random + temporarySuffix
    }

    /// Returns `text` with the paths of temporary siblings of `path` replaced by `path`, for
    /// messages.
    package static func namingStore(_ path: String, in text: String) -> String {
        let target = resolvingLink(path)
        let prefix = "\(directory(of: target))/\(temporaryPrefix(for: target))"
        var parts = text.split(separator: prefix, omittingEmptySubsequences: false)[...]
        guard var result = parts.popFirst().map(String.init) else { return text }
        for part in parts {
            let random = part.prefix(16)
            let isTemporary =
                random.utf8.count == 16 && random.allSatisfy(\.isHexDigit)
                && part.dropFirst(16).hasPrefix(temporarySuffix)
            result += isTemporary ? path + part.dropFirst(16 + temporarySuffix.count) : prefix + part
        }
        return result
    }
}
