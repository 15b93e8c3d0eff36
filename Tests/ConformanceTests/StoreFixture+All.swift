import Foundation
import Roost
import RoostConformance
import RoostCore

@testable import RoostCommand

extension StoreFixture {
    /// Every backend: whatever the umbrella registers.
    ///
    /// The only list of backends that tests know.
    static let all: [StoreFixture] = {
        registerBuiltInStores()
        return StoreRegistry.shared.all.map { StoreFixture.builtIn($0, peer: peer) }
    }()

    /// `roost` beside the test bundle, where both were built, as the second process of checks.
    private static let peer: PeerProgram? = {
        var folders = [
            Bundle.main.bundleURL, URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent(),
        ]
        // On macOS the bundle is a directory.
        folders += Bundle.allBundles.map { $0.bundleURL.deletingLastPathComponent() }
        return folders.map { $0.appendingPathComponent("roost").path }
            .first { FileManager.default.isExecutableFile(atPath: $0) }
            .map { .roost(at: $0) }
    }()

    /// The backends whose stores can be written.
    static let writable = all.filter { $0.capabilities.contains(.writing) }

    /// Every ordered pair of a backend to copy from and one to copy to.
    static let pairs = writable.flatMap { source in writable.map { (source, $0) } }
}
