/// An ability of a type of store.
public struct StoreCapability: Hashable, Sendable, CustomStringConvertible {
    /// The stable name, used by `roost info` and the conformance suite.
    public let description: String

    /// Creates a capability for a type of store from another package.
    public init(_ name: String) { description = name }

    /// Stores can be created, changed, destroyed and replaced; otherwise such calls throw
    /// `unsupported`.
    public static let writing = Self("writing")
    /// The content outlives the process, and a commit is durable on return.
    public static let persistence = Self("persistence")
    /// Several processes may use one store at the same time.
    public static let multipleProcesses = Self("multipleProcesses")
    /// Each commit records the store's tally; see ``StoreSnapshot/recordedTally()``.
    public static let digest = Self("digest")
    /// Uniqueness constraints of the model are enforced.
    public static let uniquenessConstraints = Self("uniquenessConstraints")
    /// Fetch indexes of the model are maintained.
    public static let fetchIndexes = Self("fetchIndexes")
    /// A store can record its changes; see ``StoreOptions/tracksHistory``.
    public static let history = Self("history")
    /// Generations have an order: a later commit has a greater generation.
    ///
    /// Stores with parallel writers on a server lack this capability.
    public static let totalOrder = Self("totalOrder")
    /// A store is a file, identified by its path and recognized by its content.
    public static let file = Self("file")
}

/// The set of capabilities of a store type.
///
/// ```swift
/// let type = try StoreRegistry.standard.type(named: "sqlite")
/// if type.capabilities.contains(.multipleProcesses) {
///     print("Other programs can use the store at the same time.")
/// }
/// ```
public struct StoreCapabilities: Hashable, Sendable {
    private let members: Set<StoreCapability>

    /// Creates a set of capabilities.
    public init(_ capabilities: StoreCapability...) { members = Set(capabilities) }

    /// Whether the set contains a capability.
    public func contains(_ capability: StoreCapability) -> Bool { members.contains(capability) }
    package var names: [String] { members.map(\.description).sorted() }
}
