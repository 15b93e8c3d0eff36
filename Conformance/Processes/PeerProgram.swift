internal import Foundation

/// A program that checks start as a second process: one that hands its arguments to
/// ``ConformancePeer``.
///
/// What happens between processes, and what is left when one of them dies, cannot be checked within
/// one. A third party adds an executable of one line to its package,
/// `exit(ConformancePeer.main([MyStoreType()]))`, lets its tests depend on it, and names it in its
/// ``StoreFixture``: `peer: .besideTests("MyPeer")`.
public struct PeerProgram: Sendable {
    /// The path of the executable.
    package var path: String
    /// The arguments that make the program a peer; those of ``ConformancePeer`` follow them.
    package var arguments: [String]

    /// Names a program.
    public init(path: String, arguments: [String] = []) {
        self.path = path
        self.arguments = arguments
    }

    /// The executable of this name that was built together with the tests that run; nil when it is
    /// not beside them.
    public static func besideTests(_ name: String, arguments: [String] = []) -> PeerProgram? {
        var folders = [
            Bundle.main.bundleURL, URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent(),
        ]
        // On macOS the bundle is a directory.
        folders += Bundle.allBundles.map { $0.bundleURL.deletingLastPathComponent() }
        return folders.map { $0.appendingPathComponent(name).path }
            .first { FileManager.default.isExecutableFile(atPath: $0) }
            .map { PeerProgram(path: $0, arguments: arguments) }
    }
}
