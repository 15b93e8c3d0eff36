/// Something a type of store can do.
///
/// An open set.
public struct StoreCapability: Hashable, Sendable, CustomStringConvertible {
    /// The stable name, as `roost info` and the conformance suite show it.
    public let description: String

    /// Makes a capability of a third party's own.
    public init(_ name: String) { description = name }

    /// Stores can be created, changed, destroyed and replaced.
    ///
    /// Without it, every such call throws `unsupported`.
    public static let writing = Self("writing")
    /// Contents outlive the process, and a commit is durable on return.
    public static let persistence = Self("persistence")
    /// Several processes may use one store at the same time.
    public static let multipleProcesses = Self("multipleProcesses")
    /// Counts and digests are recorded with each commit.
    public static let digest = Self("digest")
    /// Uniqueness constraints of the model are enforced.
    public static let uniquenessConstraints = Self("uniquenessConstraints")
    /// Fetch indexes of the model are kept.
    public static let fetchIndexes = Self("fetchIndexes")
    /// A store can record its changes; see ``StoreOptions/tracksHistory``.
    public static let history = Self("history")
    /// Generations have an order: a later commit has a greater one.
    ///
    /// Stores with parallel writers on a server lack it; their generations only differ.
    public static let totalOrder = Self("totalOrder")
    /// A store is a file, found and recognized by its path.
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

    /// Makes a set of capabilities.
    public init(_ capabilities: StoreCapability...) { members = Set(capabilities) }

    /// Whether the set contains a capability.
    public func contains(_ capability: StoreCapability) -> Bool { members.contains(capability) }
    /// The names of all capabilities, sorted.
    package var names: [String] { members.map(\.description).sorted() }
}
