internal import Foundation

/// A program that calls ``ConformancePeer`` and is the second process of checks.
///
/// Checks of interacting or killed processes require a second process. The author of a store type:
///
/// 1. adds an executable of one line to the package: `exit(ConformancePeer.main([MyStoreType()]))`
/// 2. lets the tests depend on it
/// 3. names it in the ``StoreFixture``: `peer: .besideTests("MyPeer")`
public struct PeerProgram: Sendable {
    package var path: String
    /// The arguments that make the program a peer.
    package var arguments: [String]

    /// Creates the description of a program.
    public init(path: String, arguments: [String] = []) {
        self.path = path
        self.arguments = arguments
    }

    /// Returns the executable of this name beside the running tests, or nil if it is missing.
    public static func besideTests(_ name: String, arguments: [String] = []) -> PeerProgram? {
        var folders = [
            Bundle.main.bundleURL, URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent(),
        ]
        // On macOS, the tests are in a bundle, which is a directory.
        folders += Bundle.allBundles.map { $0.bundleURL.deletingLastPathComponent() }
        return folders.map { $0.appendingPathComponent(name).path }
            .first { FileManager.default.isExecutableFile(atPath: $0) }
            .map { PeerProgram(path: $0, arguments: arguments) }
    }
}
