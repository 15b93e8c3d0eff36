package import RoostCore
internal import RoostSystem

/// The file-system protocols every store uses: checking, creating, flushing, publishing and
/// removing files.
///
/// No other code in Roost renames or flushes a store file. A path may be a symbolic link to a
/// regular file: operations then apply to the file it refers to, and lock and temporary files are
/// beside that file. Locks are tried once: no call here waits until another process releases one.
public enum StoreFile {
    /// The directory of a path: `"."` for a bare name.
    package static func directory(of path: String) -> String {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
        let directory = path[..<slash]
        return directory.isEmpty ? "/" : String(directory)
    }

    /// The last component of a path.
    package static func name(of path: String) -> String {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return path }
        return String(path[path.utf8.index(after: slash)...])
    }

    /// A new random path beside `path`, for a file that is built there and then published:
    /// `.<name>.<random>.roost-tmp`.
    ///
    /// Lock it with ``StoreLock`` before creating it: ``sweepTemporarySiblings(of:companions:)``
    /// removes temporary files that are not locked.
    public static func temporarySibling(of path: String) -> String {
        let target = resolvingLink(path)
        let random = UInt64.random(in: .min ... .max).hexadecimal
        return "\(directory(of: target))/\(temporaryPrefix(for: target))\(random)\(temporarySuffix)"
    }

    /// A new random location beside a store, for one that is built there and then published.
    ///
    /// - Parameters:
    ///   - location: The store.
    ///   - type: Its type.
    /// - Returns: The location; of a type that is a `ServerStoreType`, as the type says.
    /// - Throws: `invalidRequest` for a location that the type cannot read.
    package static func temporaryLocation(
        beside location: StoreLocation, of type: any PersistentStoreType
    ) throws(StoreError) -> StoreLocation {
        if let server = type as? any ServerStoreType { return try server.temporaryLocation(beside: location) }
        return StoreLocation(type: location.type, path: temporarySibling(of: location.path))
    }

    /// Returns the prefix that the names of all temporary siblings of `path` share.
    ///
    /// A sibling of a temporary file counts as a sibling of the final file. So sweeping for the
    /// final file finds it.
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

    /// A new path beside `path` for a backup of a store that is being replaced:
    /// `<name>.backup-<uuid>`.
    package static func backupSibling(of path: String) -> String {
        resolvingLink(path) + backupInfix + "\(StoreUUID())"
    }

    private static let backupInfix = ".backup-"

    /// Whether the directory entry `name` is that of a backup of `path`.
    static func isBackup(_ name: String, of path: String) -> Bool {
        let prefix = self.name(of: path) + backupInfix
        return name.hasPrefix(prefix) && StoreUUID(String(name.dropFirst(prefix.count))) != nil
    }

    /// The path of the store that `path` is a backup of by its name; nil for any other name.
    static func original(ofBackup path: String) -> String? {
        let uuid = path.suffix(36)
        let rest = path.dropLast(36)
        guard StoreUUID(String(uuid)) != nil, rest.hasSuffix(backupInfix) else { return nil }
        return String(rest.dropLast(backupInfix.count))
    }

    /// The suffixes of lock files: one file for all locks of a store, or one for each.
    static let lockSuffixes = [StoreLock.suffix, ".writer.lock", ".sound.lock", ".claim.lock"]

    /// Returns the temporary sibling of `path` that the directory entry `entry` is or belongs to;
    /// nil for any other name.
    ///
    /// - Parameters:
    ///   - entry: The name of a file in the directory of `path`.
    ///   - path: The store.
    ///   - companions: The suffixes of files that the store's type keeps beside a store.
    /// - Returns: The name of the sibling.
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

    /// A text in which the names of temporary siblings of `path` are replaced by `path`, which its
    /// reader knows.
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
