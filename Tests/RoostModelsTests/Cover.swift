/// A value of a transformable attribute, in the generated classes and in those with `@Model`.
struct Cover: Codable, Sendable, Equatable {
    var colors: [String]
}
