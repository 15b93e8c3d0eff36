package import RoostSystem

extension StoreError {
    /// Creates the error of a store whose call of the system failed.
    package init(_ error: SystemFailure) {
        let code: Code =
            switch error.code {
            case .noSpace: .noSpace
            case .ioFailure: .ioFailure
            case .outOfResources: .outOfResources
            }
        self.init(code, error.message)
    }

    /// Runs `body`, whose errors are those of the system, and throws them as errors of a store.
    package static func ofSystem<Result: ~Copyable>(
        _ body: () throws(SystemFailure) -> Result
    ) throws(StoreError) -> Result {
        do throws(SystemFailure) { return try body() } catch { throw StoreError(error) }
    }
}
