import Foundation
import Roost

/// Imports objects in the background while the view context is used.
@MainActor
struct ImportChapter {
    let stack: Stack

    func run() async throws {
        let view = stack.view
        let former = try view.count(Fetch<Employee>())
        guard let grace = try view.fetch(Fetch<Employee>(where: "name == 'Grace'")).first else {
            throw TutorialError("Grace is missing.")
        }
        let json = try Self.document(count: 50_000)

        // Counts how often the main actor runs, because the import must not block it.
        var turns = 0
        let turning = Task {
            while !Task.isCancelled {
                turns += 1
                await Task.yield()
            }
        }
        defer { turning.cancel() }

        var (saves, turnsBefore) = (0, 0)
        let imported = try await Importer(background: stack.background).run(json) { done in
            try check(turns > turnsBefore, "the main actor had a turn since the last report")
            turnsBefore = turns
            view.processPendingChanges()
            try check(try view.count(Fetch<Employee>()) == former + done, "the view context sees what is saved")
            grace.salary += 1
            try await view.saveInBackground()
            saves += 1
        }
        try check(imported == 50_000, "every object of the document is imported")
        try check(try view.count(Fetch<Employee>()) == former + imported, "the view context sees all of them")
        print("Imported \(imported) employees; the view context saved \(saves) times meanwhile.")
        let request = Fetch<Employee>(where: "name BEGINSWITH 'Person 4999'", sortedBy: ["name"], limit: 3)
        print("Some of them:", try view.fetch(request).map(\.name).joined(separator: ", "))
    }

    /// Returns a document like one that a server would send.
    private static func document(count: Int) throws -> Data {
        try JSONEncoder().encode((1...count).map { Person(name: "Person \($0)", salary: Int64($0 % 1000)) })
    }
}

/// An element of the document.
struct Person: Codable, Sendable {
    var name: String
    var salary: Int64
}

/// Inserts the people of a document, with one save for each batch.
struct Importer {
    let background: BackgroundContext
    var batchCount = 5_000

    /// Imports the people of a document.
    ///
    /// - Parameters:
    ///   - json: An array of people.
    ///   - report: Called after each save with the number of people saved so far.
    /// - Returns: The number of people.
    /// - Throws: An error of the document, of a save, or of `report`.
    @concurrent
    func run(_ json: Data, report: @MainActor (Int) async throws -> Void) async throws -> Int {
        let people = try JSONDecoder().decode([Person].self, from: json)
        var done = 0
        while done < people.count {
            let batch = people[done..<min(people.count, done + batchCount)]
            try await background.perform { context in
                for person in batch {
                    let employee: Employee = try context.insert()
                    employee.name = person.name
                    employee.salary = person.salary
                }
                try context.save()
            }
            done += batch.count
            try await report(done)
        }
        return done
    }
}
