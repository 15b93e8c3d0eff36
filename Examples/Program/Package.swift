// swift-tools-version: 6.2

import PackageDescription

let package = Package(
    name: "Program",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "Roost", path: "../..")],
    targets: [
        .executableTarget(
            name: "Program", dependencies: [.product(name: "Roost", package: "Roost")],
            swiftSettings: [.enableUpcomingFeature("MemberImportVisibility")])
    ]
)
