// swift-tools-version: 6.2

import PackageDescription

let package = Package(
    name: "Backends",
    platforms: [.macOS(.v15)],
    products: [
        .library(name: "SortedFile", targets: ["SortedFile"]),
        .library(name: "CSV", targets: ["CSV"]),
    ],
    dependencies: [
        // Without traits, Roost needs neither libsqlite3 nor liblmdb.
        .package(name: "Roost", path: "../..", traits: [])
    ],
    targets: [
        .target(
            name: "SortedFile",
            dependencies: [
                .product(name: "RoostCore", package: "Roost"), .product(name: "RoostFiles", package: "Roost"),
                .product(name: "RoostKeyValue", package: "Roost"), .product(name: "RoostQuery", package: "Roost"),
            ]),
        .target(
            name: "CSV",
            dependencies: [
                .product(name: "RoostCore", package: "Roost"), .product(name: "RoostFiles", package: "Roost"),
                .product(name: "RoostQuery", package: "Roost"),
            ]),
        // Conformance checks with several processes start and kill this program.
        .executableTarget(
            name: "SortedFilePeer",
            dependencies: ["SortedFile", .product(name: "RoostConformance", package: "Roost")]),
        // A program that runs the whole suite.
        .executableTarget(
            name: "SortedFileSuite",
            dependencies: ["SortedFile", .product(name: "RoostConformance", package: "Roost")]),
        .testTarget(
            name: "SortedFileTests",
            dependencies: ["SortedFile", "SortedFilePeer", .product(name: "RoostConformance", package: "Roost")]),
        .testTarget(
            name: "CSVTests",
            dependencies: [
                "CSV", .product(name: "RoostConformance", package: "Roost"), .product(name: "Roost", package: "Roost"),
            ]),
    ]
)
