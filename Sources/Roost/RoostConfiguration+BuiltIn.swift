public import RoostCore
public import RoostStores

extension RoostConfiguration {
    /// Finds, reads and checks the configuration.
    ///
    /// - Parameters:
    ///   - file: The path of the file; nil to search for it.
    ///   - workingDirectory: The directory where the search begins; nil for the process's
    ///     directory. `file` and paths in environment variables are relative to it.
    ///   - environment: The environment; nil for the process's.
    ///   - registry: The store types that the configuration may name.
    /// - Throws: Only `invalidConfiguration`: if the file cannot be read, for an invalid
    ///   `ROOST_STORE`, or with every problem of the file, each with its key, line and column.
    public init(
        file: String? = nil, workingDirectory: String? = nil, environment: [String: String]? = nil,
        registry: StoreRegistry = .standard
    ) throws(StoreError) {
        try self.init(
            file: file, workingDirectory: workingDirectory, environment: environment, registry: registry,
            readModel: { (path) throws(StoreError) in try ModelFile.read(path, registry: registry).model })
    }
}
