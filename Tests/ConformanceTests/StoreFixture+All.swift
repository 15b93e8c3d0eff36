import Roost
import RoostConformance
import RoostCore

@testable import RoostCommand

extension StoreFixture {
    /// Every registered backend that needs no server.
    ///
    /// RoostPostgreSQLTests has the backends with a server.
    static let all: [StoreFixture] = {
        return StoreRegistry.standard.withoutServers.map {
            StoreFixture.builtIn($0, peer: peer)
        }
    }()

    /// `roost`, built with the tests, as the second process of checks.
    private static let peer = PeerProgram.besideTests("roost").map { PeerProgram.roost(at: $0.path) }

    static let writable = all.filter { $0.capabilities.contains(.writing) }

    /// Every ordered pair of writable backends to copy from and to.
    static let pairs = writable.flatMap { source in writable.map { (source, $0) } }
}
