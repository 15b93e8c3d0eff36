import Roost

/// Shows how merge policies resolve conflicts between two contexts.
@MainActor
struct ConflictsChapter {
    let stack: Stack

    func run() async throws {
        try await refuse()
        try await resolve(.mergeByPropertyStoreTrump, expecting: "Store City, 9000")
        try await resolve(.mergeByPropertyObjectTrump, expecting: "Object City, 9000")
        try await resolve(.overwrite, expecting: "Object City, 1")
        try await resolve(.rollback, expecting: "Store City, 9000")
        try await sum()
        try unify()
    }

    /// Changes the city and the salary in the background, and the city in the view context.
    private func makeConflict() async throws -> Employee {
        let view = stack.view
        // Without automatic merging, the view context sees the background change only when it saves.
        view.mergesChangesAutomatically = false
        view.rollback()
        let employee = try view.fetch(Fetch<Employee>(where: "name == 'Grace'"))[0]
        (employee.city, employee.salary) = ("City", 1)
        try view.save()
        let id = employee.id
        try await stack.background.perform { context in
            let copy = try context.existingObject(id)
            (copy.city, copy.salary) = ("Store City", 9000)
            try context.save()
        }
        employee.city = "Object City"
        return employee
    }

    private func refuse() async throws {
        let employee = try await makeConflict()
        do {
            try stack.view.save()
            throw TutorialError("The policy 'error' must refuse the save.")
        } catch let error as StoreError where error.code == .conflict {
            try check(error.conflicts.map(\.id) == [employee.objectID], "the error names the object")
            print("error: the save fails with \(error.conflicts.count) conflict")
        }
        try check(employee.city == "Object City", "the change is still pending")
    }

    private func resolve(_ policy: MergePolicy, expecting result: String) async throws {
        let employee = try await makeConflict()
        stack.view.mergePolicy = policy
        defer { stack.view.mergePolicy = .error }
        try stack.view.save()
        let merged = "\(employee.city ?? "nowhere"), \(employee.salary)"
        try check(merged == result, "\(policy.name) gives \(result), not \(merged)")
        print("\(policy.name): \(merged)")
    }

    /// Merges by a custom policy: if both sides have raised the salary, both raises count.
    private func sum() async throws {
        let view = stack.view
        let employee = try await makeConflict()
        employee.salary += 10
        view.mergePolicy = MergePolicy("sum of raises") { conflict in
            guard var values = conflict.theirs, let mine = conflict.mine,
                case .int(let base)? = conflict.base["salary"], case .int(let here)? = mine["salary"],
                case .int(let there)? = values["salary"]
            else { return .fail }
            values["salary"] = .int(there + here - base)
            return .keep(values)
        }
        defer { view.mergePolicy = .error }
        try view.save()
        try check(employee.salary == 9010, "9000 and a raise of 10, not \(employee.salary)")
        print("\(view.mergePolicy.name): \(employee.salary)")
    }

    /// Saves a new department with the name of a stored department.
    ///
    /// The stored department replaces the new one.
    private func unify() throws {
        let view = stack.view
        let stored: Department = try view.insert()
        stored.name = "Research"
        try view.save()
        let new: Department = try view.insert()
        new.name = "Research"
        let employee = try view.fetch(Fetch<Employee>(where: "name == 'Grace'"))[0]
        employee.department = new
        view.mergePolicy = .mergeByPropertyObjectTrump
        defer { view.mergePolicy = .error }
        try view.save()
        try check(employee.department === stored, "the employee is in the stored department")
        try check(try view.count(Fetch<Department>()) == 1, "there is one department")
        view.mergesChangesAutomatically = true
        print("unique names: one department, with \(stored.employees.count) employee")
    }
}
