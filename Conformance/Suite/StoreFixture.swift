internal import Foundation
public import RoostCore

/// A type of store under test, with the locations and options of its stores.
///
/// In most tests it is one line: `StoreFixture(MyStoreType())`. Every run of a check gets a new
/// directory. ``makeLocation`` must return a location that no other run uses.
public struct StoreFixture: Sendable, CustomStringConvertible, Adjustable {
    package let name: String
    package let type: any PersistentStoreType
    /// The options for creating and opening stores; checks change the options that they examine.
    public var options = StoreOptions()
    /// Whether a closed store can be opened again in the same process.
    ///
    /// Always true with capability `persistence`.
    package let keepsClosedStores: Bool
    package let exclusions: [ConformanceExclusion]
    /// The program for a second process; without it, checks of processes fail with a message.
    package let peer: PeerProgram?
    /// The function that creates a sample in a directory, for the checks of reading; if nil, the
    /// suite creates its own sample.
    public var sample: (@Sendable (_ directory: String) throws -> StoreSample)?
    /// The function that returns the location of a named store in a run's directory (default: the
    /// file of that name in the directory).
    public var makeLocation: @Sendable (_ directory: String, _ name: String) -> StoreLocation

    /// Creates a fixture.
    ///
    /// - Parameters:
    ///   - type: The type under test.
    ///   - name: The name in reports (default: the type's name).
    ///   - keepsClosedStores: Whether a store without capability `persistence` can be reopened
    ///     while the process lives.
    ///   - exclusions: The checks that the stores are known to fail, each with the reason.
    ///   - peer: A program that calls ``ConformancePeer/main(_:)`` with this type; needed for types
    ///     with capability `persistence`.
    public init(
        _ type: any PersistentStoreType, name: String? = nil, keepsClosedStores: Bool = false,
        exclusions: [ConformanceExclusion] = [], peer: PeerProgram? = nil
    ) {
        self.name = name ?? type.name
        self.type = type
        self.keepsClosedStores = keepsClosedStores || type.capabilities.contains(.persistence)
        self.exclusions = exclusions
        self.peer = peer
        let typeName = type.name
        makeLocation = { StoreLocation(type: typeName, path: "\($0)/\($1)") }
    }

    package var capabilities: StoreCapabilities { type.capabilities }
    var keepsConstraints: Bool { capabilities.contains(.uniquenessConstraints) }
    /// The name.
    public var description: String { name }
}
