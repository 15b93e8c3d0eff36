/// A program that checks start as a second process: one that hands its arguments to ``ConformancePeer``.
///
/// What happens between processes, and what is left when one of them dies, cannot be checked within one. A third party adds an
/// executable of one line to its tests, `ConformancePeer.main([MyStoreType()])`, and names it in its ``StoreFixture``.
public struct PeerProgram: Sendable {
    /// The path of the executable.
    public var path: String
    /// The arguments that make the program a peer; those of ``ConformancePeer`` follow them.
    public var arguments: [String]

    /// Names a program.
    public init(path: String, arguments: [String] = []) {
        self.path = path
        self.arguments = arguments
    }
}
