public import RoostCore
public import RoostStores

extension RoostConfiguration {
    /// Finds, reads and checks the configuration.
    ///
    /// - Parameters:
    ///   - file: The path of the file; nil to look for it.
    ///   - workingDirectory: The directory in which the search begins, and to which `file` and
    ///     paths in variables are relative; nil for the process's.
    ///   - environment: The environment; nil for the process's.
    ///   - registry: The types of store that the configuration may name.
    /// - Throws: `invalidConfiguration` for a file that is named but cannot be read, and with every
    ///   problem of the file, each with its key, line and column; nothing else.
    public init(
        file: String? = nil, workingDirectory: String? = nil, environment: [String: String]? = nil,
        registry: StoreRegistry = .standard
    ) throws(StoreError) {
        try self.init(
            file: file, workingDirectory: workingDirectory, environment: environment, registry: registry,
            readModel: { (path) throws(StoreError) in try ModelFile.read(path, registry: registry).model })
    }
}
