import Foundation
import Roost
import RoostCore
import RoostImport
import TestSamples
import Testing

#if SQLite
    /// The Chinook database, a public sample of a music shop.
    enum Chinook {
        /// Copies the database into a directory where an import can create its store.
        static func copy(to directory: ImportDirectory) throws -> String {
            let copy = directory.file("chinook.db")
            try FileManager.default.copyItem(atPath: try #require(CorpusFolder.chinook), toPath: copy)
            return copy
        }

        static let tables = [
            "Album", "Artist", "Customer", "Employee", "Genre", "Invoice", "InvoiceLine", "MediaType", "Playlist",
            "Track",
        ]
    }

    @Suite(
        "Import of the Chinook database",
        .enabled(if: CorpusFolder.chinook != nil, "the corpus is not beside the package"))
    struct DatabaseChinookTests {
        @Test("an import of Chinook keeps every value of every row", arguments: Chinook.tables)
        func values(table: String) throws {
            let directory = try ImportDirectory()
            let imported = try Imported(try Chinook.copy(to: directory))
            let database = try TestDatabase(try #require(CorpusFolder.chinook), isReadOnly: true)
            let plan = try #require(imported.content.plan.tables.first { $0.name == table })
            let rows = try database.rows("SELECT * FROM \"\(table)\"")
            let objects = try imported.objects(table)
            #expect(objects.count == rows.count)
            #expect(plan.rows == rows.count)
            #expect(plan.columns.first?.property == nil)
            var compared = 0
            for row in rows {
                guard case .integer(let id) = try #require(row.first) else { throw CancellationError() }
                let object = try #require(objects[id])
                for (value, column) in zip(row, plan.columns).dropFirst() {
                    let property = try #require(column.property)
                    #expect(agrees(object[property] ?? .null, with: value), "\(table) \(id) \(column.name)")
                    compared += 1
                }
            }
            #expect(compared == rows.count * (plan.columns.count - 1))
        }

        @Test("an import of Chinook turns the join table into a many-to-many relationship")
        func playlists() throws {
            let directory = try ImportDirectory()
            let imported = try Imported(try Chinook.copy(to: directory))
            let rows = try TestDatabase(try #require(CorpusFolder.chinook), isReadOnly: true).rows(
                "SELECT PlaylistId, TrackId FROM PlaylistTrack")
            let pairs = rows.map { row in row.map { if case .integer(let key) = $0 { key } else { Int64(0) } } }
            #expect(try imported.pairs("Playlist", of: "track") == Set(pairs))
            #expect(imported.report.links == rows.count)
            #expect(try imported.entity("Track").relationship("playlist")?.isToMany == true)
        }

        @Test("an import of Chinook infers types, relationships and indexes without warnings")
        func model() throws {
            let directory = try ImportDirectory()
            let imported = try Imported(try Chinook.copy(to: directory))
            let track = try imported.entity("Track")
            #expect(track.attribute("UnitPrice")?.type == .decimal)
            #expect(track.attribute("Name")?.isOptional == false)
            #expect(track.relationship("Album")?.declaration.isOptional == true)
            #expect(track.relationship("MediaType")?.declaration.isOptional == false)
            #expect(try imported.entity("Album").relationship("track")?.isToMany == true)
            #expect(try imported.entity("Employee").relationship("ReportsTo")?.declaration.inverseName == "employee")
            #expect(try imported.entity("Invoice").attribute("InvoiceDate")?.type == .date)
            #expect(
                track.declaration.fetchIndexes.map(\.name).sorted() == [
                    "IFK_TrackAlbumId", "IFK_TrackGenreId", "IFK_TrackMediaTypeId",
                ])
            #expect(imported.content.warnings() == [])
        }

        private func agrees(_ value: Value, with expected: TestValue) -> Bool {
            switch (value, expected) {
            case (.null, .null): true
            case (.int(let left), .integer(let right)): left == right
            case (.string(let left), .text(let right)): left.utf8.elementsEqual(right.utf8)
            case (.decimal(let left), .integer(let right)): left == Decimal(right)
            case (.decimal(let left), .real(let right)): Double("\(left)") == right
            case (.date(let left), .text(let right)):
                DateText.text(left.timeIntervalSinceReferenceDate) == right.replacingOccurrences(of: " ", with: "T")
                    + "Z"
            case (.objectID(let left), .integer(let right)): left.key == right
            default: false
            }
        }
    }
#endif
