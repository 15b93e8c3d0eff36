internal import Foundation
internal import RoostCore
internal import RoostGraph
internal import RoostPredicates
internal import RoostQuery
internal import RoostSystem

extension GraphCheck {
    /// Inserts Alice and Bob of Engineering, and Carol of Operations.
    static func makeTeams(
        _ bench: GraphBench
    ) throws -> (container: PersistentContainer, context: ManagedObjectContext, people: [Person]) {
        let container = try bench.makeContainer()
        let context = container.makeContext()
        let teams = try ["Engineering", "Operations"].map { name in
            let team = try context.insert("Team")
            team["name"] = .string(name)
            return team
        }
        let people = try ["Alice", "Bob", "Carol"].map { name in
            let person: Person = try context.insert()
            (person.name, person.team) = (name, teams[name == "Carol" ? 1 : 0])
            return person
        }
        try context.save()
        return (container, context, people)
    }

    /// Inserts albums that were played 0, 1, 2 … times.
    static func makeAlbums(
        _ bench: GraphBench, count: Int
    ) throws -> (container: PersistentContainer, context: ManagedObjectContext, albums: [Album]) {
        let container = try bench.makeContainer()
        let context = container.makeContext()
        let albums = try (0..<count).map { number in
            let album: Album = try context.insert()
            (album.title, album.plays) = ("title \(number)", Int64(number))
            return album
        }
        try context.save()
        return (container, context, albums)
    }

    static func item(_ object: ManagedObject, section: Int, item: Int) -> ResultsChange.Item {
        ResultsChange.Item(id: object.objectID, place: ResultsPlace(section: section, item: item))
    }

    static func move(
        _ object: ManagedObject, from: (Int, Int), to: (Int, Int)
    ) -> ResultsChange.Move {
        ResultsChange.Move(
            id: object.objectID, from: ResultsPlace(section: from.0, item: from.1),
            to: ResultsPlace(section: to.0, item: to.1))
    }
}
