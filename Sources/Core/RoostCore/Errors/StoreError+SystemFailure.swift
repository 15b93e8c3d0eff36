package import RoostSystem

extension StoreError {
    package init(_ error: SystemFailure) {
        let code: Code =
            switch error.code {
            case .noSpace: .noSpace
            case .ioFailure: .ioFailure
            case .outOfResources: .outOfResources
            }
        self.init(code, error.message)
    }

    /// Runs `body`, and converts its system errors to store errors.
    package static func ofSystem<Result: ~Copyable>(
        _ body: () throws(SystemFailure) -> Result
    ) throws(StoreError) -> Result {
        do throws(SystemFailure) { return try body() } catch { throw StoreError(error) }
    }
}
