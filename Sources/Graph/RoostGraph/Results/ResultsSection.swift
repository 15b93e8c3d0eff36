public import RoostCore

/// A section of a result: the section's name, and the IDs of its objects in their order.
///
/// A section is a `Sendable` value that later changes of the result do not affect.
///
/// ```swift
/// for section in controller.sections {
///     print(section.name, section.count, section.first.map { "\($0)" } ?? "")
/// }
/// ```
///
/// - Complexity: Accessing an ID by position is O(*n*) for *n* objects, with a very small factor. A
///   loop over all IDs is O(*n*).
public struct ResultsSection: RandomAccessCollection, Hashable, Sendable {
    private let content: ResultsList.Section
    private let model: ManagedObjectModel

    init(_ content: ResultsList.Section, model: ManagedObjectModel) {
        (self.content, self.model) = (content, model)
    }

    /// The name; by default, the text of the value that the section's objects share.
    ///
    /// By default, the name for null is empty. The name is also empty in an undivided result.
    public var name: String { content.name }
    /// The first character of the name in upper case, for an index beside a list.
    public var indexTitle: String { String(name.prefix(1)).uppercased() }

    /// The position of the first ID.
    public var startIndex: Int { 0 }
    /// The number of objects.
    public var endIndex: Int { content.count }

    /// The ID of the object at a position.
    public subscript(position: Int) -> ObjectID {
        precondition(indices.contains(position), "a section of a result has no object at \(position)")
        let (chunk, index) = content.position(ofItem: position)
        return id(content.chunks[chunk].entries[index])
    }

    private func id(_ entry: ResultsList.Entry) -> ObjectID {
        ObjectID(model.entities[Int(entry.entity)].name, key: entry.key)
    }

    /// Returns the IDs in their order.
    public func makeIterator() -> AnyIterator<ObjectID> {
        var (chunk, index) = (0, 0)
        return AnyIterator {
            while chunk < content.chunks.count {
                if index < content.chunks[chunk].entries.count {
                    defer { index += 1 }
                    return id(content.chunks[chunk].entries[index])
                }
                (chunk, index) = (chunk + 1, 0)
            }
            return nil
        }
    }

    /// Returns whether two sections have the same name and the same objects in the same order.
    public static func == (left: ResultsSection, right: ResultsSection) -> Bool {
        left.name == right.name && left.elementsEqual(right)
    }

    /// Hashes the name and the objects.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(name)
        for id in self { hasher.combine(id) }
    }
}

extension ResultsList {
    package func publicSections(_ model: ManagedObjectModel) -> [ResultsSection] {
        sections.map { ResultsSection($0, model: model) }
    }
}
