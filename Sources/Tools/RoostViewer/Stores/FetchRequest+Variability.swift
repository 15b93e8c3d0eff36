#if Interactive
    internal import RoostCore

    extension FetchRequest {
        /// Whether the result may change without a commit, as with `now()` or a registered
        /// function.
        var isVariable: Bool { predicate?.isVariable ?? false }
    }

    extension FetchRequest.Predicate {
        fileprivate var isVariable: Bool {
            switch self {
            case .constant: false
            case .comparison(let comparison): comparison.left.isVariable || comparison.right.isVariable
            case .and(let parts), .or(let parts): parts.contains(where: \.isVariable)
            case .not(let part): part.isVariable
            }
        }
    }

    extension FetchRequest.Expression {
        fileprivate var isVariable: Bool {
            switch self {
            case .constant, .evaluatedObject, .variable, .keyPath: false
            case .path(let base, _): base.isVariable
            case .aggregate(let parts): parts.contains(where: \.isVariable)
            case .function(let function, let arguments): function == .now || arguments.contains(where: \.isVariable)
            case .registered: true
            case .cast(let part, _): part.isVariable
            case .subquery(let base, variable: _, let predicate): base.isVariable || predicate.isVariable
            case .conditional(let predicate, let first, let second):
                predicate.isVariable || first.isVariable || second.isVariable
            case .element(let base, let index):
                if case .position(let position) = index {
                    base.isVariable || position.isVariable
                } else {
                    base.isVariable
                }
            case .setOperation(_, let first, let second): first.isVariable || second.isVariable
            }
        }
    }
#endif
